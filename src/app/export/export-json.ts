import { isUtf8 } from "node:buffer";
import { unfinishedLength } from "#app/read/pattern-utf8.ts";
import type { TranscriptMessage } from "#contract/agent/message.ts";
import { channelName } from "#contract/channels.ts";
import type { Session } from "#contract/session.ts";
import type { LogLine } from "#log/lines.ts";
import { endOf, type LogChunk } from "#log/log-source.ts";
import type { LogReader } from "#session/session-host.ts";

interface JsonSource {
  readonly session: Session;
  /** Of an agent: what was said and done. */
  readonly transcript: readonly TranscriptMessage[] | undefined;
  readonly events: AsyncIterable<LogLine>;
  readonly output: LogReader;
  /** Of the output. */
  readonly to: number;
}

type Gap = Omit<Extract<LogChunk, { kind: "gap" }>, "kind">;

const CHUNK_BYTES = 64 * 1024;
/** Beyond this a gap only shows in the offsets of the output around it. */
const GAPS_LISTED = 10_000;

/**
 * One object, written as it is read: `session`, `epoch_ms` (where `at_ms` counts from), an agent's `transcript`,
 * `events`, `output`, `gaps`.
 * Output that is no UTF-8 is `data_b64` in place of `data`.
 */
export async function* writeJson({
  session,
  transcript,
  events,
  output,
  to,
}: JsonSource): AsyncGenerator<string, void, void> {
  yield `{"session":${JSON.stringify(session)},\n"epoch_ms":${output.epoch() ?? null},\n`;
  if (transcript !== undefined) yield* writeList("transcript", transcript);
  yield* writeEvents(events);
  yield '"output":[';
  let separator = "\n";
  const gaps: Gap[] = [];
  for (const chunk of readCharacters(output, to)) {
    if (chunk.kind === "gap") {
      if (gaps.length < GAPS_LISTED) gaps.push({ from: chunk.from, to: chunk.to });
      continue;
    }
    yield separator + describe(chunk);
    separator = ",\n";
  }
  yield `],\n"gaps":${JSON.stringify(gaps)}}\n`;
}

function* writeList(name: string, items: readonly unknown[]): Generator<string> {
  yield `"${name}":[`;
  for (const [at, item] of items.entries())
    yield `${at === 0 ? "\n" : ",\n"}${JSON.stringify(item)}`;
  yield "],\n";
}

async function* writeEvents(events: AsyncIterable<LogLine>): AsyncGenerator<string, void, void> {
  yield '"events":[';
  let separator = "\n";
  for await (const line of events) {
    // What a worker answers to whoever asked it is no event.
    if (line.kind !== "line" || line.value.type === "reply") continue;
    yield separator + line.text;
    separator = ",\n";
  }
  yield "],\n";
}

/** In chunks that end with a character, where there is one. */
function* readCharacters(log: LogReader, to: number): Generator<LogChunk> {
  for (let next = 0; next < to; ) {
    const chunk = log.read(next, { limit: CHUNK_BYTES, tail: to });
    if (chunk === undefined) return;
    const whole = withoutUnfinished(chunk, to);
    yield whole;
    next = endOf(whole);
  }
}

function withoutUnfinished(chunk: LogChunk, to: number): LogChunk {
  if (chunk.kind === "gap" || endOf(chunk) >= to) return chunk;
  const length = chunk.bytes.length - unfinishedLength(chunk.bytes, chunk.bytes.length);
  return length === 0 ? chunk : { ...chunk, bytes: chunk.bytes.subarray(0, length) };
}

function describe({ offset, channel, at_ms, bytes }: Extract<LogChunk, { kind: "bytes" }>): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const data = isUtf8(buffer)
    ? { data: buffer.toString("utf8") }
    : { data_b64: buffer.toString("base64") };
  return JSON.stringify({ offset, channel: channelName(channel), at_ms, ...data });
}
