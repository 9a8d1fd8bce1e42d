import { randomUUID } from "node:crypto";
import { constants } from "node:os";
import { setTimeout } from "node:timers/promises";
import { isPassing } from "#client/transport/refusal.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import type { LogChunk } from "#log/log-source.ts";
import { Patience } from "./control/patience.ts";
import { exitCodeOf, hostGone, notice, sayFault } from "./exit.ts";
import { createFrameWriter, openRawWriter } from "./output-writer.ts";
import { chunksOf } from "./terminal/printed-chunks.ts";
import type { SessionClient } from "./terminal/session-client.ts";

export interface PipedOptions {
  readonly since: number | undefined;
  readonly json: boolean;
  readonly forwardsInput: boolean;
  /** Only watches: Ctrl-C is for us. */
  readonly isViewer?: boolean;
  /** Aborted when nobody wants to wait any longer; the session goes on. */
  readonly patience?: AbortSignal;
}

/** As of timeout(1): the wait was over first. */
export const LATE_EXIT = 124;

/** SIGHUP is last: Node always catches SIGINT and SIGTERM, so only SIGHUP shows from outside that all three are handled. */
const LEAVING = ["SIGTERM", "SIGHUP"] as const;
const RETRY_MS = 50;
const AGAIN_MS = 250;
const AWAY =
  "the server is away; Ctrl-C reaches the program when it is back, and once more leaves it alone";

/** As much of a session as a pipeline needs, wherever it is. */
export interface PipedSession {
  readonly session_id: Session["session_id"];
  /** Of the server; absent = this machine. */
  readonly address?: string | undefined;
  /** The output, up to the exit. */
  chunks(signal: AbortSignal): AsyncIterable<LogChunk>;
  /** A server that is away hears of it when it is back; `onAway` is told that this takes a while. */
  interrupt(asking: { readonly signal: AbortSignal; onAway(): void }): Promise<unknown>;
  input(said: PipedInput, signal: AbortSignal): Promise<unknown>;
  /** As it is now. */
  look(): Promise<Session>;
}

export type PipedInput = { readonly data_b64: string } | { readonly eof: true };

/** A session of this machine or of a server as a part of a pipeline. A server that is away is waited for. */
export async function runPiped(
  client: SessionClient,
  { session_id }: Session,
  { since, ...options }: PipedOptions,
): Promise<number> {
  const { address } = client;
  const isHere = address === undefined;
  const follow = client.follow ?? client.attach;
  const onCut = () => {
    if (isHere) throw hostGone(session_id);
    notice("the server is away; it is tried again");
  };
  const piped: PipedSession = {
    session_id,
    address,
    chunks: (signal) => chunksOf(follow(session_id, { since, signal }), onCut),
    // An answer that was cut off may have been heard: then the program is interrupted twice, which is better than never.
    interrupt: (asking) =>
      askUntilBack((how) => client.call("session.interrupt", { session_id }, how), {
        ...asking,
        isHere,
      }),
    input: (said, signal) => {
      // With an id it is typed once, however often it has to be sent.
      const request = { session_id, ...said, input_id: randomUUID() };
      return askUntilBack((how) => client.call("session.input", request, how), { signal, isHere });
    },
    look: () => {
      const look = () => client.call("session.get", { session_id });
      return isHere ? look() : new Patience().ask(look);
    },
  };
  return await pipe(piped, options);
}

interface Asking {
  readonly signal: AbortSignal;
  onAway?(): void;
  /** On this machine no other host has the session. */
  readonly isHere: boolean;
}

/** As long as the attachment tries, which is until nobody wants it any more: what is typed into a pipe is never lost. */
async function askUntilBack<T>(
  question: (how: { readonly signal: AbortSignal }) => Promise<T>,
  { signal, onAway, isHere }: Asking,
): Promise<T> {
  for (;;) {
    try {
      return await question({ signal });
    } catch (error) {
      if (isHere || !(error instanceof Fault) || !isPassing(error)) throw error;
    }
    onAway?.();
    await setTimeout(AGAIN_MS, undefined, { signal });
  }
}

/** A session as a part of a pipeline: its output to ours, our stdin and Ctrl-C to it, its exit code ours. */
export async function pipe(
  piped: PipedSession,
  options: Omit<PipedOptions, "since">,
): Promise<number> {
  const { session_id } = piped;
  const { patience } = options;
  using signals = onSignals(piped, options);
  if (options.forwardsInput) void forwardInput(piped, signals.over);
  using writer = options.json ? createFrameWriter() : openRawWriter({ isHistory: false });
  const over = AbortSignal.any([signals.over, ...(patience === undefined ? [] : [patience])]);
  for await (const chunk of piped.chunks(over)) await writer.write(chunk);
  const { leftBy } = signals;
  if (leftBy !== undefined) return sayLeft(piped, leftBy);
  const session = await piped.look();
  if (patience?.aborted === true && session.state.kind === "running") {
    notice(`${session_id} goes on, reins wait waits for its end`);
    return LATE_EXIT;
  }
  await writer.end(session);
  return codeOf(session);
}

/** Answers the exit code. */
export function sayLeft(
  { session_id, address }: Pick<PipedSession, "session_id" | "address">,
  by: NodeJS.Signals,
): number {
  const there = address === undefined ? "" : ` --remote ${address}`;
  notice(`left; ${session_id} goes on, reins attach${there} brings you back`);
  return 128 + constants.signals[by];
}

export interface PipedSignals extends Disposable {
  /** The session has ended, or we leave it. */
  readonly over: AbortSignal;
  readonly leftBy: NodeJS.Signals | undefined;
}

/** Ctrl-C is for the program; whoever ends us does not end it. Where Ctrl-C does not arrive, a second one leaves. */
export function onSignals(
  piped: Pick<PipedSession, "interrupt">,
  { isViewer = false }: Pick<PipedOptions, "isViewer">,
): PipedSignals {
  const over = new AbortController();
  const { signal } = over;
  let leftBy: NodeJS.Signals | undefined;
  let isAway = false;
  const leave = (by: NodeJS.Signals) => {
    leftBy = by;
    over.abort();
  };
  const onAway = () => {
    if (!isAway) notice(AWAY);
    isAway = true;
  };
  const tell = async () => {
    try {
      await piped.interrupt({ signal, onAway });
    } catch (error) {
      if (!signal.aborted && !hasEnded(error)) sayFault(error);
    }
    isAway = false;
  };
  const interrupt = () => void (isAway || isViewer ? leave("SIGINT") : tell());
  process.on("SIGINT", interrupt);
  for (const each of LEAVING) process.on(each, leave);
  return {
    over: signal,
    get leftBy() {
      return leftBy;
    },
    [Symbol.dispose]: () => {
      over.abort();
      process.off("SIGINT", interrupt);
      for (const each of LEAVING) process.off(each, leave);
      process.stdin.destroy();
    },
  };
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
        await sendPatiently(piped, { data_b64 }, over);
      }
    }
    await sendPatiently(piped, { eof: true }, over);
  } catch (error) {
    // When all is over stdin is closed under us, and the program takes no more.
    if (!over.aborted && !hasEnded(error)) sayFault(error);
  }
}

async function sendPatiently(
  piped: PipedSession,
  said: PipedInput,
  over: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      await piped.input(said, over);
      return;
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "queue_full") throw error;
    }
    await setTimeout(RETRY_MS, undefined, { signal: over });
  }
}

function hasEnded(error: unknown): boolean {
  const codes = ["already_exited", "session_not_found", "host_unavailable"];
  // A host that does not answer may still do so: what was not taken must not be left out without a word.
  const isSilent = error instanceof Fault && error.details.errno === "ETIMEDOUT";
  return error instanceof Fault && codes.includes(error.code) && !isSilent;
}
