import { constants } from "node:os";
import { releaseAll } from "./lib/owned.ts";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Asked for in a way that cannot be meant. */
class WrongUse extends Error {}

/** A number above 0 that was given as a text. */
export function readNumber(name: string, text: string): number {
  const number = Number(text);
  if (text.trim() !== "" && number > 0 && number < Infinity) return number;
  throw new WrongUse(`--${name} takes a number above 0, not ${JSON.stringify(text)}`);
}

/** Those that were asked for by name, in that order, or all. */
export function choose<T>(
  asked: readonly string[] | undefined,
  all: Readonly<Record<string, T>>,
): [name: string, chosen: T][] {
  const names = asked ?? Object.keys(all);
  return names.map((name) => {
    const chosen = Object.hasOwn(all, name) ? all[name] : undefined;
    if (chosen !== undefined) return [name, chosen];
    throw new WrongUse(`there is no ${name}; there are ${Object.keys(all).join(", ")}`);
  });
}

/**
 * Runs `main`, whose answer is the exit code. However it ends, what it opened is released first; who cannot wait for
 * that sends the signal once more.
 */
export async function runProgram(usage: string, main: () => Promise<number>): Promise<never> {
  if (process.argv.slice(2).some((word) => word === "--help" || word === "-h")) {
    process.stdout.write(`${usage}\n`);
    process.exit(0);
  }
  // Measurements of an ordinary user read the memory of hosts and gateways, which are guarded from that user otherwise.
  process.env.REINS_DUMPABLE = "1";
  const sayError = (error: unknown) =>
    isWrongUse(error) ? sayUse(error, usage) : sayFailure(error);
  const interrupted = Promise.withResolvers<number>();
  for (const signal of signals) {
    const code = 128 + constants.signals[signal];
    process.once(signal, () => {
      process.once(signal, () => process.exit(code));
      process.stderr.write("cleaning up\n");
      interrupted.resolve(code);
    });
  }
  // Thrown where nobody waits for it: what was opened is released all the same.
  process.once("uncaughtException", (error) => interrupted.resolve(sayError(error)));
  const code = await Promise.race([interrupted.promise, main().catch(sayError)]);
  await releaseAll();
  process.exit(code);
}

/** Of ours or of Node's parser. */
function isWrongUse(error: unknown): error is Error {
  if (error instanceof WrongUse) return true;
  return error instanceof TypeError && "code" in error && /^ERR_PARSE_ARGS/.test(`${error.code}`);
}

function sayUse(error: Error, usage: string): number {
  process.stderr.write(`${error.message}\n\n${usage}\n`);
  return 2;
}

function sayFailure(error: unknown): number {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  return 1;
}
