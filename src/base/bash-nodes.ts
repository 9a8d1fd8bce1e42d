import { forEachChild, type ParsedScript, parse, type SyntaxNode } from "unbash";

/** The parser looks from each of these to the end of the word or line: thousands take it seconds. */
const MAX_OPENERS = 2000;
const OPENERS = /\{|\$\[|<</g;
/** Behind the name of a command, where it could only begin a function. */
const STRAY_OPENING = /(?:[ \t]|\\\n)*\(/y;

/** What a visitor decides: visit the children of the node too, leave them out, or stop. */
type Verdict = "enter" | "skip" | "stop";

/**
 * Visits every node of a script with the text that it is part of. Undefined where bash would not read the script, where
 * parsing takes too long, or where the visitor stops. Throws a RangeError for some nestings: the parser recurses without a
 * bound of its own.
 */
export function visitBash(
  script: string,
  visit: (node: SyntaxNode, source: string) => Verdict,
): ParsedScript | undefined {
  if ((script.match(OPENERS)?.length ?? 0) > MAX_OPENERS) return undefined;
  const root = parse(script);
  const pending: [SyntaxNode, string][] = [[root, script]];
  // A list instead of recursion: no input overflows it.
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [node, outer] = next;
    // The content of backticks has its own text, without their escapes.
    const source = node.type === "Script" ? (node.source ?? outer) : outer;
    const verdict = isBroken(node, source) ? "stop" : visit(node, source);
    if (verdict === "stop") return undefined;
    if (verdict === "skip") continue;
    forEachChild(node, (child) => {
      pending.push([child, source]);
    });
  }
  return root;
}

/** The parser finds most errors. It does accept `time &`, `! &` and `a (b &`, and bash does not. */
function isBroken(node: SyntaxNode, source: string): boolean {
  if (node.type === "Script") return node.errors !== undefined && node.errors.length > 0;
  if (node.type === "Pipeline") return node.commands.length === 0;
  if (node.type !== "Command" || node.name === undefined) return false;
  STRAY_OPENING.lastIndex = node.name.end;
  return STRAY_OPENING.test(source);
}
