import { type Glob, globCouldMatch, globIsInside, globMatches } from "./glob.ts";
import {
  type ArgumentPattern,
  argumentMatches,
  type Call,
  listArgument,
  matches,
  type Pattern,
} from "./pattern.ts";
import { readShellLine, type ShellLine } from "./shell-line.ts";
import type { ShellText } from "./shell-text.ts";

/** Tools whose argument of this name is a command line. */
const COMMAND_LINES: Readonly<Record<string, string>> = {
  execute: "command",
  terminal_open: "command",
};
const QUOTING = /["'\\]/g;

/** A call with what its command line would run. */
export interface ReadCall extends Call {
  /** The argument that is a command line. */
  readonly lineArg: string | undefined;
  readonly lines: readonly { readonly text: string; readonly shell: ShellLine }[];
}

export function readCall(call: Call): ReadCall {
  const name = call.tool.toLowerCase();
  const lineArg = Object.hasOwn(COMMAND_LINES, name) ? COMMAND_LINES[name] : undefined;
  const texts = lineArg === undefined ? [] : listArgument(call, lineArg);
  return {
    ...call,
    lineArg,
    lines: texts.map((text) => ({ text, shell: readShellLine(text) })),
  };
}

/**
 * The patterns that together allow the call, or undefined. On a command line each part must match one of them, because
 * `git *` is not meant to allow `git status; rm -rf .`.
 */
export function findAllowing(
  patterns: readonly Pattern[],
  call: ReadCall,
): readonly Pattern[] | undefined {
  const whole = patterns.find((pattern) => !namesLine(pattern, call) && matches(pattern, call));
  if (whole !== undefined) return [whole];
  const fitting = patterns.filter((pattern) => fitsLine(pattern, call));
  if (fitting.length === 0 || call.lines.length === 0) return undefined;
  const found = new Set<Pattern>();
  for (const { text, shell } of call.lines) {
    if (shell.isOpaque || shell.parts.length === 0) return undefined;
    for (const part of shell.parts) {
      const pattern = fitting.find((each) =>
        lineGlobs(each, call).every((glob) => allowsPart(glob, part, text)),
      );
      if (pattern === undefined) return undefined;
      found.add(pattern);
    }
  }
  return [...found];
}

/** What the line sets in the environment changes what its commands do, so the pattern must name that too. */
function fitsLine(pattern: Pattern, call: ReadCall): boolean {
  if (!namesLine(pattern, call) || !globMatches(pattern.tool, call.tool)) return false;
  const namesEnv = pattern.args.some((arg) => arg.name === "env");
  if (!namesEnv && listArgument(call, "env").some((text) => text !== "{}")) return false;
  return otherArgs(pattern, call).every((arg) => argumentMatches(arg, call, "every"));
}

function allowsPart(glob: Glob, part: ShellText, line: string): boolean {
  if (globMatches(glob, part.seen)) return true;
  // Without a wildcard it is this very line, variables and all.
  return glob.literal !== undefined && part.written === line && globMatches(glob, line);
}

type Touch = "yes" | "maybe" | "no";

/** Whether a pattern that denies or asks is about the call: about any part of it, however it is dressed up. */
export function touches(pattern: Pattern, call: ReadCall): Touch {
  if (!globMatches(pattern.tool, call.tool)) return "no";
  if (!namesLine(pattern, call)) {
    return pattern.args.every((arg) => argumentMatches(arg, call, "some")) ? "yes" : "no";
  }
  if (!otherArgs(pattern, call).every((arg) => argumentMatches(arg, call, "some"))) return "no";
  const globs = lineGlobs(pattern, call);
  const found = call.lines.map(({ text, shell }) => touchesLine(globs, text, shell));
  if (found.includes("yes")) return "yes";
  return found.includes("maybe") ? "maybe" : "no";
}

function touchesLine(globs: readonly Glob[], text: string, shell: ShellLine): Touch {
  const all = (test: (glob: Glob) => boolean) => globs.every(test);
  if (all((glob) => globMatches(glob, text))) return "yes";
  if (shell.isBroken) {
    const bare = text.replaceAll(QUOTING, "");
    return all((glob) => globIsInside(glob, text) || globIsInside(glob, bare)) ? "yes" : "maybe";
  }
  const texts = [...shell.parts, ...shell.shadows];
  if (
    texts.some(({ seen, written }) => all((g) => globMatches(g, seen) || globMatches(g, written)))
  )
    return "yes";
  const isPossible =
    shell.isOpaque || shell.parts.some(({ seen }) => all((glob) => couldBe(glob, seen)));
  return isPossible ? "maybe" : "no";
}

/** `*--force*` could be about every line with a variable in it, which is too many to ask about. */
function couldBe(glob: Glob, text: string): boolean {
  return typeof glob.tokens[0] === "string" && globCouldMatch(glob, text);
}

function namesLine(pattern: Pattern, call: ReadCall): boolean {
  return pattern.args.some((arg) => arg.name === call.lineArg);
}

function lineGlobs(pattern: Pattern, call: ReadCall): readonly Glob[] {
  return pattern.args.filter((arg) => arg.name === call.lineArg).map((arg) => arg.glob);
}

function otherArgs(pattern: Pattern, call: ReadCall): readonly ArgumentPattern[] {
  return pattern.args.filter((arg) => arg.name !== call.lineArg);
}
