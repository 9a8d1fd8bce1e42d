import { createContext, Script } from "node:vm";
import { parentPort } from "node:worker_threads";
import { bytesOfUnits } from "./pattern-utf8.ts";

/** What the thread is asked: the first match that begins at or behind `from`, what is before it is only context. */
export interface PatternQuestion {
  readonly id: number;
  readonly source: string;
  readonly flags: string;
  readonly bytes: Uint8Array;
  readonly from: number;
}

/**
 * Places are in bytes. `slow`: it was stopped. What it took is time on a processor: that the machine is busy with
 * something else is not the pattern's fault.
 */
export type PatternReply = { readonly id: number; readonly took_ms: number } & (
  | { readonly kind: "match"; readonly start: number; readonly end: number; readonly text: string }
  | { readonly kind: "none" }
  | { readonly kind: "slow" }
  | { readonly kind: "failed"; readonly message: string }
);

type Outcome =
  | Omit<Extract<PatternReply, { kind: "match" }>, "id" | "took_ms">
  | { readonly kind: "none" }
  | { readonly kind: "slow" }
  | { readonly kind: "failed"; readonly message: string };

const SEARCH_LIMIT_MS = 50;

/** A timeout of `vm` is the only thing that ends an expression in the middle. */
const sandbox: { exec: () => RegExpExecArray | null } = { exec: () => null };
const context = createContext(sandbox);
const script = new Script("exec()");

parentPort?.on("message", (question: PatternQuestion) => {
  const before = process.threadCpuUsage();
  const outcome = answer(question);
  const { user, system } = process.threadCpuUsage(before);
  const reply: PatternReply = { id: question.id, took_ms: (user + system) / 1000, ...outcome };
  parentPort?.postMessage(reply);
});

function answer(question: PatternQuestion): Outcome {
  try {
    return search(question);
  } catch (error) {
    if (isTimeout(error)) return { kind: "slow" };
    return { kind: "failed", message: error instanceof Error ? error.message : String(error) };
  }
}

function search({ source, flags, bytes, from }: PatternQuestion): Outcome {
  const pattern = new RegExp(source, flags);
  const before = decode(bytes.subarray(0, from));
  const text = before + decode(bytes.subarray(from));
  pattern.lastIndex = before.length;
  sandbox.exec = () => pattern.exec(text);
  // What the script gives is what `exec` gives.
  const match = script.runInContext(context, {
    timeout: SEARCH_LIMIT_MS,
  }) as RegExpExecArray | null;
  if (match === null) return { kind: "none" };
  const found = match[0] ?? "";
  const units = match.index - before.length;
  const start = from + bytesOfUnits(bytes, from, units);
  return {
    kind: "match",
    start,
    end: start + bytesOfUnits(bytes, start, found.length),
    text: found,
  };
}

/** A byte order mark is a character like others: leaving it out would shift what follows. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function isTimeout(error: unknown): boolean {
  return (
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT"
  );
}
