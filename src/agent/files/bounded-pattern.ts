import { createContext, Script } from "node:vm";
import { messageOf } from "#base/errno.ts";
import { Fault } from "#contract/fault.ts";
import { refused } from "./file-scope.ts";

/** For one look. */
const ONCE_MS = 500;
/** A look may take this for nothing, on a busy machine too; what it takes beyond is summed up. */
const DECENT_MS = 50;
const DEBT_MS = 3000;

export interface BoundedPattern {
  /** The indexes of the texts that match. */
  find(texts: readonly string[]): readonly number[];
}

interface Sandbox {
  work: () => number[];
}

/**
 * A pattern that somebody else wrote. Some take longer than anybody waits, and a time limit of `vm` is the only thing
 * that ends an expression in the middle, so it runs inside of one.
 */
export function createBoundedPattern(
  pattern: RegExp,
  now: () => number = () => performance.now(),
): BoundedPattern {
  const sandbox: Sandbox = { work: () => [] };
  const context = createContext(sandbox);
  const script = new Script("work()");
  let debt = 0;
  return {
    find(texts) {
      if (debt > DEBT_MS) throw tooSlow();
      sandbox.work = () => texts.flatMap((text, index) => (pattern.test(text) ? [index] : []));
      const started = now();
      try {
        // What the script gives is what `work` gives.
        return script.runInContext(context, { timeout: ONCE_MS }) as number[];
      } catch (error) {
        throw asSlow(error);
      } finally {
        debt += Math.max(0, now() - started - DECENT_MS);
      }
    },
  };
}

/** `pattern: …` when it is no regular expression. */
export function parsePattern(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, `${flags}u`);
  } catch {
    // Most people write patterns for the older rules, which are laxer.
  }
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw refused(`pattern: ${messageOf(error)}`);
  }
}

function asSlow(error: unknown): unknown {
  const isTimeout =
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
  return isTimeout ? tooSlow() : error;
}

function tooSlow(): Fault {
  return new Fault("invalid_request", "pattern: it takes too long; write a simpler one");
}
