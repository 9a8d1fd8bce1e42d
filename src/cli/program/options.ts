import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import type { OutputStart } from "#app/last-lines.ts";
import { Fault } from "#contract/fault.ts";

/** Options and words of a command; what is wrong is a fault that names it. */
export function parseOptions<O extends ParseArgsOptionsConfig>(
  argv: readonly string[],
  options: O,
) {
  try {
    return parseArgs({
      args: [...argv],
      options,
      allowPositionals: true,
      allowNegative: true,
      strict: true,
    });
  } catch (error) {
    // The first sentence; the others explain how Node reads options.
    const message = error instanceof Error ? error.message : String(error);
    throw new Fault("invalid_request", message.split(/\.\s/)[0] ?? message, { cause: error });
  }
}

/** Words that a command has no use for are mistakes. */
export function refuseWords([word]: readonly string[]): void {
  if (word === undefined) return;
  throw new Fault("invalid_request", `there is no use for ${JSON.stringify(word)} here`);
}

/** Splits at `--`, or before the first word that is neither an option nor an option's value. */
export function splitCommand(
  argv: readonly string[],
  valued: readonly string[],
): { readonly ours: readonly string[]; readonly command: readonly string[] } {
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    if (word === "--") return { ours: argv.slice(0, at), command: argv.slice(at + 1) };
    if (!word.startsWith("-") || word === "-")
      return { ours: argv.slice(0, at), command: argv.slice(at) };
    if (valued.includes(word)) at += 1;
  }
  return { ours: argv, command: [] };
}

export function parseSeconds(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (text.trim() === "" || !Number.isFinite(seconds) || seconds < 0) {
    throw new Fault(
      "invalid_request",
      `--${name}: ${JSON.stringify(text)} is not a number of seconds`,
    );
  }
  return Math.round(seconds * 1000);
}

/** An offset: a whole number, or `tail`. Whether it is in range, the log knows. */
export function parseSince(text: string | undefined): number | "tail" | undefined {
  if (text === undefined || text === "tail") return text;
  const offset = Number(text);
  if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(offset)) {
    throw new Fault(
      "invalid_request",
      `--since: ${JSON.stringify(text)} is neither an offset nor \`tail\``,
    );
  }
  return offset;
}

/** Of what was printed: from an offset on, or the last lines; everything when neither is said. */
export function parseStart({
  since,
  tail,
}: {
  readonly since?: string | undefined;
  readonly tail?: string | undefined;
}): OutputStart | undefined {
  if (tail === undefined) return parseSince(since);
  if (since !== undefined)
    throw new Fault("invalid_request", "--tail and --since exclude each other");
  const lines = Number(tail);
  if (/^\d+$/.test(tail) && Number.isSafeInteger(lines)) return { lines };
  throw new Fault("invalid_request", `--tail: ${JSON.stringify(tail)} is no number of lines`);
}
