import { refused } from "./file-scope.ts";

const GLOB_CHARS = 500;

/**
 * A glob as a regular expression over paths with `/`: `*` and `?` within a name, `**` across folders, `[a-z]`, `{a,b}`.
 * One without a `/` matches names at any depth. Ranges as `{1..9}` are not known: they can stand for very many.
 */
export function parseGlob(glob: string): RegExp {
  if (glob.length > GLOB_CHARS)
    throw refused(`pattern: it is longer than ${GLOB_CHARS} characters`);
  const whole = glob.replace(/^\.\//, "").replace(/^\/+/, "");
  if (whole === "") throw refused("pattern: it is empty");
  const anywhere = whole.includes("/") ? "" : "(?:.*/)?";
  try {
    return new RegExp(`^${anywhere}${translate(whole)}$`, "s");
  } catch (error) {
    // All that is left to be wrong is a range, as in [z-a].
    if (error instanceof SyntaxError) throw refused("pattern: a range in [] ends before it begins");
    throw error;
  }
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
  return RegExp.escape(token.startsWith("\\") && token.length > 1 ? token.slice(1) : token);
}

function toClass(inner: string): string {
  const isNot = inner.startsWith("!") || inner.startsWith("^");
  const members = (isNot ? inner.slice(1) : inner).replace(/[\\\]^[]/g, "\\$&");
  if (members === "") throw refused("pattern: [] is empty");
  return `(?!/)[${isNot ? "^" : ""}${members}]`;
}
