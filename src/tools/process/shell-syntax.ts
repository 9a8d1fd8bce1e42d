import { forEachChild, type ParsedScript, parse, type Statement, type SyntaxNode } from "unbash";

/** Far above what a model writes as one command. */
const MAX_PARSED_CHARS = 512 * 1024;
/** The parser looks from each of these to the end of the word or line: thousands take it seconds. */
const MAX_OPENERS = 2000;
const OPENERS = /\{|\$\[|<</g;
/** A word without any of these has no command inside, and words are most of a script. */
const MAY_HOLD_COMMAND = /[`(]|\$\{/;
/** Behind the name of a command, where it could only begin a function. */
const STRAY_OPENING = /(?:[ \t]|\\\n)*\(/y;

interface ShellSyntax {
  /** Of the top level. */
  readonly statements: readonly Statement[];
  /** How many statements end in `&`, those of substitutions, functions and groups included. */
  readonly asyncCount: number;
}

/** The command as bash would read it, or undefined where it would not, or where reading takes too long. */
export function parseShell(command: string): ShellSyntax | undefined {
  if (command.length > MAX_PARSED_CHARS || hasTooManyOpeners(command)) return undefined;
  try {
    const script = parse(command);
    const asyncCount = countAsync(script, command);
    return asyncCount === undefined ? undefined : { statements: script.commands, asyncCount };
  } catch (error) {
    // The parser recurses for some nestings without a bound of its own.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function hasTooManyOpeners(command: string): boolean {
  let count = 0;
  for (const _ of command.matchAll(OPENERS)) {
    count += 1;
    if (count > MAX_OPENERS) return true;
  }
  return false;
}

/** Undefined when there is an error at any depth. A list instead of recursion: no input overflows it. */
function countAsync(root: ParsedScript, command: string): number | undefined {
  const pending: [SyntaxNode, string][] = [[root, command]];
  let count = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [node, outer] = next;
    // What stands in backticks has its own text, without their escapes.
    const source = node.type === "Script" ? (node.source ?? outer) : outer;
    if (isBroken(node, source)) return undefined;
    if (node.type === "Statement" && node.background === true) count += 1;
    if (node.type === "Word" && !MAY_HOLD_COMMAND.test(node.text)) continue;
    forEachChild(node, (child) => {
      pending.push([child, source]);
    });
  }
  return count;
}

/** The parser finds most errors. It does accept `time &`, `! &` and `a (b &`, and bash does not. */
function isBroken(node: SyntaxNode, source: string): boolean {
  if (node.type === "Script") return node.errors !== undefined && node.errors.length > 0;
  if (node.type === "Pipeline") return node.commands.length === 0;
  if (node.type !== "Command" || node.name === undefined) return false;
  STRAY_OPENING.lastIndex = node.name.end;
  return STRAY_OPENING.test(source);
}
