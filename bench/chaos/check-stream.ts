import { join } from "node:path";
import { channels, type OutputChannel } from "#contract/channels.ts";
import type { Session } from "#contract/session.ts";
import { locateDataDir } from "#host/data-dir.ts";
import { openLogFiles } from "#log/log-files.ts";
import { bytesOf, type StreamPlan, totalBytes } from "./printed-stream.ts";
import type { Gap, Recorder } from "./recorder.ts";

/** A whole log in memory: each byte, and the channel that it is of; 0 where the bytes are lost. */
export interface WholeLog {
  readonly bytes: Buffer;
  readonly channelAt: Uint8Array;
  readonly gaps: readonly Gap[];
}

const CHUNK_BYTES = 256 * 1024;

/** From the files, past host and gateway. */
export function readWholeLog(dataDir: string, sessionId: string, name = "output"): WholeLog {
  using source = openLogFiles(join(locateDataDir(dataDir).sessions, sessionId, name));
  const tail = source.tail();
  const bytes = Buffer.alloc(tail);
  const channelAt = new Uint8Array(tail);
  const gaps: Gap[] = [];
  for (let at = 0; at < tail; ) {
    const chunk = source.read(at, { limit: CHUNK_BYTES, tail });
    if (chunk === undefined) break;
    if (chunk.kind === "gap") {
      gaps.push(chunk);
      at = chunk.to;
      continue;
    }
    bytes.set(chunk.bytes, chunk.offset);
    // What has no channel of its own is the only one.
    channelAt.fill(chunk.channel || channels.stdout, at, at + chunk.bytes.length);
    at += chunk.bytes.length;
  }
  return { bytes, channelAt, gaps };
}

/** The log against what the command was told to print. */
export function checkLog(plan: StreamPlan, session: Session, log: WholeLog): string[] {
  const { state } = session;
  const total = totalBytes(plan);
  const wrong = plan.channels === 1 ? checkSingle(plan, log) : checkBoth(plan, log);
  if (log.bytes.length > total) wrong.push(`the log has ${log.bytes.length} of ${total} bytes`);
  if (state.kind === "exited" && state.reason === "exited") {
    if (state.exit_code !== plan.exit_code)
      wrong.push(`it exited with ${state.exit_code} instead of ${plan.exit_code}`);
    if (state.tail !== total) wrong.push(`its exit is at ${state.tail} instead of ${total}`);
  }
  return wrong;
}

/** Every byte stands where it must, whatever is missing around it. */
function checkSingle(plan: StreamPlan, { bytes, channelAt }: WholeLog): string[] {
  const to = Math.min(bytes.length, totalBytes(plan));
  const truth = bytesOf(plan, "stdout", { from: 0, to });
  for (let at = 0; at < to; at += 1)
    if (channelAt[at] !== 0 && bytes[at] !== truth[at])
      return [`the log's byte ${at} is not what was printed: ${shown(bytes, at)}`];
  return [];
}

/** Two pipes have no order between them: each channel for itself, from its start up to the first loss. */
function checkBoth(plan: StreamPlan, { bytes, channelAt, gaps }: WholeLog): string[] {
  const end = gaps[0]?.from ?? bytes.length;
  return (["stdout", "stderr"] as const).flatMap((name) => {
    const found = bytes.subarray(0, end).filter((_, at) => channelAt[at] === channels[name]);
    const truth = bytesOf(plan, name, { from: 0, to: found.length });
    return Buffer.compare(found, truth) === 0 ? [] : [`the log's ${name} is not what was printed`];
  });
}

export interface SeenCheck {
  readonly recorder: Recorder;
  readonly session: Session;
  readonly log: WholeLog;
  /** It is told of the exit. */
  readonly hearsExit: boolean;
}

/** What a reader has got against the log. */
export function checkSeen({ recorder, session, log, hearsExit }: SeenCheck): string[] {
  const wrong = [...recorder.problems];
  const say = (problem: string) => wrong.push(`${recorder.name}: ${problem}`);
  for (const { offset, bytes, channel } of recorder.pieces) {
    const range = log.bytes.subarray(offset, offset + bytes.length);
    if (Buffer.compare(range, bytes) !== 0)
      say(`its bytes at ${offset} are not the log's: ${shown(Buffer.from(bytes), 0)}`);
    else if (!isOf(log, offset, { length: bytes.length, channel }))
      say(`its bytes at ${offset} are of another channel`);
  }
  for (const { from, to } of recorder.gaps)
    if (log.channelAt.subarray(from, to).some((channel) => channel !== 0))
      say(`it has a gap from ${from} to ${to} that the log has not`);
  const { state } = session;
  const tail = state.kind === "exited" ? state.tail : log.bytes.length;
  if (recorder.next !== tail) say(`it ends at ${recorder.next} instead of ${tail}`);
  if (hearsExit && state.kind === "exited" && recorder.end?.exit_code !== state.exit_code)
    say(`it heard of the exit ${JSON.stringify(recorder.end)}`);
  return wrong;
}

function isOf(
  { channelAt }: WholeLog,
  offset: number,
  { length, channel }: { readonly length: number; readonly channel: OutputChannel | undefined },
): boolean {
  const range = channelAt.subarray(offset, offset + length);
  return channel === undefined
    ? range.every((number) => number !== 0)
    : range.every((number) => number === channels[channel]);
}

function shown(bytes: Buffer, at: number): string {
  return JSON.stringify(bytes.subarray(at, at + 40).toString("latin1"));
}
