import { randomUUID } from "node:crypto";
import { constants } from "node:os";
import { setTimeout } from "node:timers/promises";
import { exitCodeOf, hostGone, notice, sayFault } from "#cli/program/exit.ts";
import { Patience } from "#cli/target/patience.ts";
import type { Client } from "#client/client.ts";
import { isPassing } from "#client/transport/refusal.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import { createFrameWriter, openRawWriter } from "./output-writer.ts";
import { chunksOf } from "./printed-chunks.ts";

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

type PipedInput = { readonly data_b64: string } | { readonly eof: true };

/** A session of a client as a part of a pipeline: its output to ours, our stdin and Ctrl-C to it, its exit code ours. */
export async function runPiped(
  client: Client,
  { session_id }: Pick<Session, "session_id">,
  options: PipedOptions,
): Promise<number> {
  const { since, patience } = options;
  const { address } = client;
  const isHere = address === undefined;
  const onCut = () => {
    if (isHere) throw hostGone(session_id);
    notice("the server is away; it is tried again");
  };
  // An answer that was cut off may have been heard: then the program is interrupted twice, which is better than never.
  const interrupt: Interrupt = (asking) =>
    askUntilBack((how) => client.call("session.interrupt", { session_id }, how), {
      ...asking,
      isHere,
    });
  using signals = onSignals(interrupt, options);
  if (options.forwardsInput)
    void forwardInput((said, signal) => {
      // With an id it is typed once, however often it has to be sent.
      const request = { session_id, ...said, input_id: randomUUID() };
      return askUntilBack((how) => client.call("session.input", request, how), { signal, isHere });
    }, signals.over);
  using writer = options.json ? createFrameWriter() : openRawWriter({ isHistory: false });
  const signal = AbortSignal.any([signals.over, ...(patience === undefined ? [] : [patience])]);
  const attachment = client.attach(session_id, { since, reads: "exit", signal });
  for await (const chunk of chunksOf(attachment, onCut)) await writer.write(chunk);
  const { leftBy } = signals;
  if (leftBy !== undefined) return sayLeft({ session_id, address }, leftBy);
  const look = () => client.call("session.get", { session_id });
  const session = await (isHere ? look() : new Patience().ask(look));
  if (patience?.aborted === true && session.state.kind === "running") {
    notice(`${session_id} goes on, reins wait waits for its end`);
    return LATE_EXIT;
  }
  await writer.end(session);
  return codeOf(session);
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

/** Answers the exit code. */
export function sayLeft(
  { session_id, address }: { readonly session_id: string; readonly address?: string | undefined },
  by: NodeJS.Signals,
): number {
  const there = address === undefined ? "" : ` --remote ${address}`;
  notice(`left; ${session_id} goes on, reins attach${there} brings you back`);
  return 128 + constants.signals[by];
}

/** A server that is away hears of it when it is back; `onAway` is told that this takes a while. */
type Interrupt = (asking: { readonly signal: AbortSignal; onAway(): void }) => Promise<unknown>;

export interface PipedSignals extends Disposable {
  /** The session has ended, or we leave it. */
  readonly over: AbortSignal;
  readonly leftBy: NodeJS.Signals | undefined;
}

/** Ctrl-C is for the program; whoever ends us does not end it. Where Ctrl-C does not arrive, a second one leaves. */
export function onSignals(
  sendInterrupt: Interrupt,
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
      await sendInterrupt({ signal, onAway });
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

type SendInput = (said: PipedInput, signal: AbortSignal) => Promise<unknown>;

/** In order and no faster than the program reads: a full queue is waited for. */
async function forwardInput(send: SendInput, over: AbortSignal): Promise<void> {
  try {
    for await (const chunk of process.stdin) {
      // stdin gives bytes as long as no encoding is set.
      const bytes: Buffer = chunk;
      for (let at = 0; at < bytes.length; at += limits.input_bytes) {
        const data_b64 = bytes.subarray(at, at + limits.input_bytes).toString("base64");
        await sendPatiently(send, { data_b64 }, over);
      }
    }
    await sendPatiently(send, { eof: true }, over);
  } catch (error) {
    // When all is over stdin is closed under us, and the program takes no more.
    if (!over.aborted && !hasEnded(error)) sayFault(error);
  }
}

async function sendPatiently(send: SendInput, said: PipedInput, over: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await send(said, over);
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
