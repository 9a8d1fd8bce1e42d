import { RE2JS } from "re2js";

/**
 * A regular expression of a caller. It is matched in time that grows with the text and with the pattern, never
 * faster, so it needs no time limit. The price: no look-around and no back-references.
 */
export interface LinearPattern {
  /** Steps of its program: in the worst case each character of the text costs as many. */
  readonly size: number;
  test(text: string): boolean;
  /** The first match that begins at or behind `from`. Only `^` and `\b` look at the text before it. */
  find(text: string, from: number): PatternPlace | undefined;
  /** Drops what was remembered of earlier searches, up to 8 MiB. */
  release(): void;
}

/** In UTF-16 units. */
interface PatternPlace {
  readonly start: number;
  readonly end: number;
}

export interface PatternFlags {
  readonly ignoreCase?: boolean;
  /** `^` and `$` are those of lines. */
  readonly multiline?: boolean;
  /** `.` is also a line end. */
  readonly dotAll?: boolean;
}

/** Says what is wrong with a pattern, for the person who wrote it. */
export class PatternProblem extends Error {}

/** As large as a text of as many characters; repetitions of repetitions get there with few. */
const PATTERN_STEPS = 2000;

export function compileLinear(source: string, flags: PatternFlags = {}): LinearPattern {
  refuseUnsupported(source);
  const compiled = compile(source, flags);
  const size = compiled.matcher("").programSize();
  if (size > PATTERN_STEPS)
    throw new PatternProblem(
      `it is too large: ${size} steps, at most ${PATTERN_STEPS}; use smaller counts in {}`,
    );
  return {
    size,
    test: (text) => compiled.test(text),
    find: (text, from) => {
      // Behind one character the rest is context for nothing.
      const cut = from === 0 ? 0 : from - lengthBefore(text, from);
      const rest = cut === 0 ? text : text.slice(cut);
      // Without places it is many times faster.
      if (!compiled.test(rest)) return undefined;
      const matcher = compiled.matcher(rest);
      if (!matcher.find(from - cut)) return undefined;
      return { start: cut + matcher.start(), end: cut + matcher.end() };
    },
    release: () => {
      compiled.reset();
      // Its own `reset` keeps the automaton. The version is pinned, and a test looks at the memory.
      Object.assign(compiled.re2(), { lazyDFA: null });
    },
  };
}

function compile(source: string, flags: PatternFlags): RE2JS {
  const bits =
    (flags.ignoreCase === true ? RE2JS.CASE_INSENSITIVE : 0) |
    (flags.multiline === true ? RE2JS.MULTILINE : 0) |
    (flags.dotAll === true ? RE2JS.DOTALL : 0);
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source), bits);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new PatternProblem(message.replace("error parsing regexp: ", "").replace("(?m)", ""));
  }
}

function lengthBefore(text: string, at: number): number {
  return at > 1 && (text.codePointAt(at - 2) ?? 0) > 0xffff ? 2 : 1;
}

const LINEAR = "patterns are matched in linear time (RE2 syntax)";
const unsupported: readonly (readonly [start: string, name: string, instead: string])[] = [
  ["(?=", "look-ahead", "Match the text behind it as well"],
  ["(?!", "look-ahead", "Say what may follow instead, for example with [^…]"],
  ["(?<=", "look-behind", "Match the text before it as well"],
  ["(?<!", "look-behind", "Say what may be before it instead, for example with [^…]"],
  ["(?>", "an atomic group", "Use (?:…)"],
  ["\\k<", "a back-reference", "Write the repeated part once more"],
  ["\\A", "the start of the text", "Use ^, the start of a line"],
  ["\\z", "the end of the text", "Use $, the end of a line"],
  ["\\Z", "the end of the text", "Use $, the end of a line"],
];

/** A class, in which nothing of the table has a meaning; an escape; or anything else. */
const TOKEN = /\[\^?\]?(?:\\.|[^\]\\])*\]|\\k<|\\.|\(\?(?:<?[=!]|>)|./gsu;

function refuseUnsupported(source: string): void {
  for (const [token] of source.matchAll(TOKEN)) {
    const found = unsupported.find(([start]) => start === token);
    if (found !== undefined) throw notSupported(...found);
    if (/^\\[1-9]$/.test(token))
      throw notSupported(token, "a back-reference", "Write the repeated part once more");
  }
}

function notSupported(start: string, name: string, instead: string): PatternProblem {
  return new PatternProblem(`${start} (${name}) is not supported: ${LINEAR}. ${instead}.`);
}
