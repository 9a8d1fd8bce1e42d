/** Stands in a text for what only the shell will know: a variable, the output of a command. No argument can hold it. */
export const UNKNOWN = "\0";

const ANY_TEXT = Symbol("any text");
const ANY_CHARACTER = Symbol("any character");
type Token = string | typeof ANY_TEXT | typeof ANY_CHARACTER;

/** `*` is any text, `?` one character, `[*]` and `[?]` the characters themselves; case does not matter. */
export interface Glob {
  readonly tokens: readonly Token[];
  /** Its text, where it has no wildcard. */
  readonly literal: string | undefined;
}

const TOKEN = /\[[*?]\]|\*+|./gsu;
const LITERAL_WILDCARD = /^\[[*?]\]$/;
/** Beyond this we do not work out whether an unknown part could make a text match: it could. */
const MOST_UNKNOWN_CHARS = 4096;

export function createGlob(text: string): Glob {
  const tokens = (fold(text).match(TOKEN) ?? []).map(readToken);
  const literal = tokens.filter((token) => typeof token === "string");
  return { tokens, literal: literal.length === tokens.length ? literal.join("") : undefined };
}

function readToken(text: string): Token {
  if (text.startsWith("*")) return ANY_TEXT;
  if (text === "?") return ANY_CHARACTER;
  return LITERAL_WILDCARD.test(text) ? text.slice(1, 2) : text;
}

/** Whether the whole text matches, whatever its unknown parts turn out to be. */
export function globMatches(glob: Glob, text: string): boolean {
  if (glob.literal !== undefined) return glob.literal === fold(text);
  return takesAll(glob.tokens, [...fold(text)]);
}

/** Whether the whole text matches for some value of its unknown parts. */
export function globCouldMatch(glob: Glob, text: string): boolean {
  if (!text.includes(UNKNOWN)) return globMatches(glob, text);
  return text.length > MOST_UNKNOWN_CHARS || couldTakeAll(glob.tokens, fold(text));
}

/** Whether the glob matches somewhere inside the text. */
export function globIsInside(glob: Glob, text: string): boolean {
  return takesAll([ANY_TEXT, ...glob.tokens, ANY_TEXT], [...fold(text)]);
}

/** The text as a glob that matches nothing else. */
export function escapeGlob(text: string): string {
  return text.replaceAll(/[*?]/g, "[$&]");
}

/** Each `*` takes as little as it can; when the rest does not fit, only the last one has to take more. */
function takesAll(tokens: readonly Token[], text: readonly string[]): boolean {
  let token = 0;
  let at = 0;
  let wildcard: { readonly token: number; at: number } | undefined;
  while (at < text.length) {
    if (tokens[token] === ANY_TEXT) {
      token += 1;
      wildcard = { token, at };
    } else if (takes(tokens[token], text[at])) {
      token += 1;
      at += 1;
    } else {
      if (wildcard === undefined) return false;
      wildcard.at += 1;
      ({ token, at } = wildcard);
    }
  }
  return tokens.slice(token).every((rest) => rest === ANY_TEXT);
}

function takes(token: Token | undefined, character: string | undefined): boolean {
  return token === ANY_CHARACTER ? character !== UNKNOWN : token === character;
}

/** The positions in the tokens where one may be after each character; an unknown part may take any of what is left. */
function couldTakeAll(tokens: readonly Token[], text: string): boolean {
  let at = afterEmpty(tokens, new Set([0]));
  for (const character of text) {
    if (at.size === 0) return false;
    at =
      character === UNKNOWN
        ? everyFrom(Math.min(...at), tokens.length)
        : afterEmpty(tokens, step(tokens, at, character));
  }
  return at.has(tokens.length);
}

function step(tokens: readonly Token[], at: ReadonlySet<number>, character: string): Set<number> {
  const next = new Set<number>();
  for (const position of at) {
    const token = tokens[position];
    if (token === ANY_TEXT) next.add(position);
    else if (takes(token, character)) next.add(position + 1);
  }
  return next;
}

/** `*` may be empty. */
function afterEmpty(tokens: readonly Token[], at: Set<number>): Set<number> {
  // A set that grows while it is gone through yields what was added.
  for (const position of at) if (tokens[position] === ANY_TEXT) at.add(position + 1);
  return at;
}

function everyFrom(first: number, last: number): Set<number> {
  return new Set(Array.from({ length: last - first + 1 }, (_, index) => first + index));
}

function fold(text: string): string {
  return text.toLowerCase();
}
