import type { LinearPattern } from "#base/linear-pattern.ts";
import { refused } from "./file-scope.ts";
import { compilePattern } from "./line-pattern.ts";

const GLOB_CHARS = 500;

/**
 * A glob as a regular expression over paths with `/`: `*` and `?` within a name, `**` across folders, `[a-z]`, `{a,b}`.
 * One without a `/` matches names at any depth. Ranges as `{1..9}` are not known: they can stand for very many.
 */
export async function parseGlob(glob: string): Promise<LinearPattern> {
  if (glob.length > GLOB_CHARS)
    throw refused(`pattern: it is longer than ${GLOB_CHARS} characters`);
  const whole = glob.replace(/^\.\//, "").replace(/^\/+/, "");
  if (whole === "") throw refused("pattern: it is empty");
  const anywhere = whole.includes("/") ? "" : "(?:.*/)?";
  return await compilePattern(`^${anywhere}${translate(whole)}$`, { dotAll: true });
}

const TOKEN = /\*\*\/|\*\*|\*|\?|\[!?\]?[^\]]*\]|\{|\}|,|\\.|./gsu;

function translate(glob: string): string {
  let depth = 0;
  let source = "";
  for (const [token] of glob.matchAll(TOKEN)) {
    if (token === "{") depth += 1;
    if (token === "}" && depth === 0) throw refused("pattern: a } has no {");
    source += depth === 0 && token === "," ? "," : toSource(token);
    if (token === "}") depth -= 1;
  }
  if (depth > 0) throw refused("pattern: a { has no }");
  return source;
}

const SOURCES: Readonly<Record<string, string>> = {
  "**/": "(?:.*/)?",
  "**": ".*",
  "*": "[^/]*",
  "?": "[^/]",
  "{": "(?:",
  "}": ")",
  ",": "|",
};

function toSource(token: string): string {
  const known = SOURCES[token];
  if (known !== undefined) return known;
  if (token.startsWith("[") && token.length > 1) return toClass(token.slice(1, -1));
  const char = token.startsWith("\\") && token.length > 1 ? token.slice(1) : token;
  return char.replace(/[\\^$.*+?()[\]{}|]/, "\\$&");
}

const MEMBER = /(?<low>.)-(?<high>.)|./gsu;

/** Never a `/`, which no name has: it is left out of a range that reaches over it. */
function toClass(inner: string): string {
  const isNot = inner.startsWith("!") || inner.startsWith("^");
  const members = isNot ? inner.slice(1) : inner;
  if (members === "") throw refused("pattern: [] is empty");
  const ranges = [...members.matchAll(MEMBER)].flatMap(({ 0: one, groups }) =>
    rangesOf(pointOf(groups?.low ?? one), pointOf(groups?.high ?? one), { isNot }),
  );
  if (ranges.length === 0) return "[^\\x00-\\x{10ffff}]";
  return `[${isNot ? "^/" : ""}${ranges.map(([low, high]) => `${hex(low)}-${hex(high)}`).join("")}]`;
}

const SLASH = 0x2f;

function rangesOf(
  low: number,
  high: number,
  { isNot }: { readonly isNot: boolean },
): (readonly [number, number])[] {
  if (high < low) throw refused("pattern: a range in [] ends before it begins");
  if (isNot || high < SLASH || low > SLASH) return [[low, high]];
  const both = [[low, SLASH - 1] as const, [SLASH + 1, high] as const];
  return both.filter(([from, to]) => from <= to);
}

function pointOf(char: string): number {
  return char.codePointAt(0) ?? 0;
}

function hex(point: number): string {
  return `\\x{${point.toString(16)}}`;
}
