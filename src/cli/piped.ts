import { constants } from "node:os";
import { followOutput, openOutput } from "#app/follow-output.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import type { LogChunk } from "#log/log-source.ts";
import type { Local } from "./context.ts";
import { exitCodeOf, hostGone, sayFault } from "./exit.ts";
import { createFrameWriter, createRawWriter } from "./output-writer.ts";

export interface PipedOptions {
  readonly since: number | undefined;
  readonly json: boolean;
  readonly forwardsInput: boolean;
  /** Aborted when nobody wants to wait any longer; the session goes on. */
  readonly patience?: AbortSignal;
}

/** As of timeout(1): the wait was over first. */
export const LATE_EXIT = 124;

const LEAVING = ["SIGHUP", "SIGTERM"] as const;
const RETRY_MS = 50;

/** As much of a session as a pipeline needs, wherever it is. */
export interface PipedSession {
  readonly session_id: Session["session_id"];
  /** What it prints, up to its exit. */
  chunks(signal: AbortSignal): AsyncIterable<LogChunk>;
  interrupt(): Promise<unknown>;
  input(said: PipedInput): Promise<unknown>;
  /** As it is now. */
  look(): Promise<Session>;
}

export type PipedInput = { readonly data_b64: string } | { readonly eof: true };

/** A session of this machine as a part of a pipeline. */
export async function runPiped(
  local: Local,
  session: Session,
  options: PipedOptions,
): Promise<number> {
  const { session_id } = session;
  const { operations } = local;
  using watch = await local.host.watch(session_id);
  using source = openOutput(local.dir.sessions, session_id);
  const since = options.since ?? source.first();
  const piped: PipedSession = {
    session_id,
    chunks: (signal) => followOutput(source, watch, { since, until: "exit", signal }),
    interrupt: () => operations["session.interrupt"]({ session_id }),
    input: (said) => operations["session.input"]({ session_id, ...said }),
    look: async () => watch.session,
  };
  return await pipe(piped, options);
}

/** A session as a part of a pipeline: its output to ours, our stdin and Ctrl-C to it, its exit code ours. */
export async function pipe(
  piped: PipedSession,
  options: Omit<PipedOptions, "since">,
): Promise<number> {
  const { session_id } = piped;
  const { patience } = options;
  using signals = onSignals(piped);
  if (options.forwardsInput) void forwardInput(piped, signals.over);
  const writer = options.json ? createFrameWriter() : createRawWriter({ isHistory: false });
  const over = AbortSignal.any([signals.over, ...(patience === undefined ? [] : [patience])]);
  for await (const chunk of piped.chunks(over)) await writer.write(chunk);
  const { leftBy } = signals;
  if (leftBy !== undefined) {
    process.stderr.write(`reins: left; ${session_id} goes on, reins attach brings you back\n`);
    return 128 + constants.signals[leftBy];
  }
  const session = await piped.look();
  if (patience?.aborted === true && session.state.kind === "running") {
    process.stderr.write(`reins: ${session_id} goes on, reins wait waits for its end\n`);
    return LATE_EXIT;
  }
  await writer.end(session);
  return codeOf(session);
}

interface Signals extends Disposable {
  /** The session has ended, or we leave it. */
  readonly over: AbortSignal;
  readonly leftBy: NodeJS.Signals | undefined;
}

/** Ctrl-C is for the program; whoever ends us does not end it. */
function onSignals(piped: PipedSession): Signals {
  const over = new AbortController();
  let leftBy: NodeJS.Signals | undefined;
  const interrupt = () => void piped.interrupt().catch(ignoreEnded);
  const leave = (signal: NodeJS.Signals) => {
    leftBy = signal;
    over.abort();
  };
  process.on("SIGINT", interrupt);
  for (const signal of LEAVING) process.on(signal, leave);
  return {
    over: over.signal,
    get leftBy() {
      return leftBy;
    },
    [Symbol.dispose]: () => {
      over.abort();
      process.off("SIGINT", interrupt);
      for (const signal of LEAVING) process.off(signal, leave);
      process.stdin.destroy();
    },
  };
}

function ignoreEnded(error: unknown): void {
  if (!hasEnded(error)) sayFault(error);
}

function codeOf({ state, session_id }: Session): number {
  if (state.kind === "exited") return state.exit_code ?? 1;
  const fault = hostGone(session_id);
  sayFault(fault);
  return exitCodeOf(fault);
}

/** In order and no faster than the program reads: a full queue is waited for. */
async function forwardInput(piped: PipedSession, over: AbortSignal): Promise<void> {
  try {
    for await (const chunk of process.stdin) {
      // stdin gives bytes as long as no encoding is set.
      const bytes: Buffer = chunk;
      for (let at = 0; at < bytes.length; at += limits.input_bytes) {
        const data_b64 = bytes.subarray(at, at + limits.input_bytes).toString("base64");
        await sendPatiently(piped, { data_b64 });
      }
    }
    await sendPatiently(piped, { eof: true });
  } catch (error) {
    // When all is over stdin is closed under us, and the program takes no more.
    if (!over.aborted && !hasEnded(error)) sayFault(error);
  }
}

async function sendPatiently(piped: PipedSession, said: PipedInput): Promise<void> {
  for (;;) {
    try {
      await piped.input(said);
      return;
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "queue_full") throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

function hasEnded(error: unknown): boolean {
  const codes = ["already_exited", "session_not_found", "host_unavailable"];
  return error instanceof Fault && codes.includes(error.code);
}
