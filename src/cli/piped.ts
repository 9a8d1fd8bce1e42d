import { followOutput, openOutput } from "#app/follow-output.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import type { Local } from "./context.ts";
import { exitCodeOf, sayFault } from "./exit.ts";
import { createFrameWriter, createRawWriter } from "./output-writer.ts";

export interface PipedOptions {
  readonly since: number | undefined;
  readonly json: boolean;
  readonly forwardsInput: boolean;
}

const DETACHING = ["SIGHUP", "SIGTERM"] as const;
const RETRY_MS = 50;

/** A session as a part of a pipeline: its output to ours, our stdin and Ctrl-C to it, its exit code ours. */
export async function runPiped(
  local: Local,
  session: Session,
  options: PipedOptions,
): Promise<number> {
  const { session_id } = session;
  using watch = await local.host.watch(session_id);
  using source = openOutput(local.dir.sessions, session_id);
  const left = new AbortController();
  const interrupt = () =>
    void local.operations["session.interrupt"]({ session_id }).catch(() => undefined);
  const leave = () => left.abort();
  process.on("SIGINT", interrupt);
  for (const signal of DETACHING) process.on(signal, leave);
  if (options.forwardsInput) void forwardInput(local, session_id, left.signal).catch(sayFault);
  const writer = options.json ? createFrameWriter() : createRawWriter({ isHistory: false });
  const since = options.since ?? source.first();
  for await (const chunk of followOutput(source, watch, {
    since,
    until: "exit",
    signal: left.signal,
  })) {
    await writer.write(chunk);
  }
  process.off("SIGINT", interrupt);
  for (const signal of DETACHING) process.off(signal, leave);
  process.stdin.destroy();
  if (left.signal.aborted) return 0;
  await writer.end(watch.session);
  return codeOf(watch.session);
}

function codeOf({ state, session_id }: Session): number {
  if (state.kind === "exited") return state.exit_code ?? 1;
  const fault = new Fault(
    "host_unavailable",
    `the host has gone away; reins logs ${session_id} shows what was printed`,
  );
  sayFault(fault);
  return exitCodeOf(fault);
}

/** In order and no faster than the program reads: a full queue is waited for. */
async function forwardInput(
  local: Local,
  session_id: Session["session_id"],
  signal: AbortSignal,
): Promise<void> {
  for await (const chunk of process.stdin) {
    // stdin gives bytes as long as no encoding is set.
    const bytes: Buffer = chunk;
    for (let at = 0; at < bytes.length && !signal.aborted; at += limits.input_bytes) {
      if (!(await sendPatiently(local, session_id, bytes.subarray(at, at + limits.input_bytes))))
        return;
    }
  }
  if (!signal.aborted) await send(local, { session_id, eof: true });
}

/** False when the program has ended. */
async function sendPatiently(
  local: Local,
  session_id: Session["session_id"],
  bytes: Buffer,
): Promise<boolean> {
  for (;;) {
    const answer = await send(local, { session_id, data_b64: bytes.toString("base64") });
    if (answer !== "full") return answer === "sent";
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function send(
  local: Local,
  input: Parameters<Local["operations"]["session.input"]>[0],
): Promise<"sent" | "full" | "ended"> {
  try {
    await local.operations["session.input"](input);
    return "sent";
  } catch (error) {
    if (error instanceof Fault && error.code === "queue_full") return "full";
    if (error instanceof Fault && ["already_exited", "host_unavailable"].includes(error.code))
      return "ended";
    throw error;
  }
}
