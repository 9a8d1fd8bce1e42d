/**
 * Characters that change what a person reads without being seen: controls, directional overrides, zero-width and filler
 * characters, tags, misplaced variation selectors, lone surrogates. Text that a person decides on is shown with them
 * spelled out, as `⟨U+202E⟩`, in the page and in a terminal alike.
 */
export interface HiddenCharacter {
  /** `U+202E` */
  readonly code: string;
  /** `right-to-left override` */
  readonly name: string;
  /** How many of them follow each other. */
  readonly count: number;
}

type TextPiece = string | HiddenCharacter;

/**
 * - `decision`: a command, a path, an argument. Everything hidden is shown.
 * - `prose`: a message, a title. Joiners stay where an emoji or a script is written with them.
 */
export type Reading = "decision" | "prose";

/** Default_Ignorable_Code_Point covers zero-width characters, fillers, tags and variation selectors. */
const HIDDEN =
  "[[\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Bidi_Control}\\p{Default_Ignorable_Code_Point}\\u2800\\uFFF9-\\uFFFB]--[\\n\\t]]";

/** A line end of Windows, an emoji that is asked for in color, a keycap. */
const EVERYWHERE = "\\r\\n|\\p{Extended_Pictographic}\\uFE0F|[0-9#*]\\uFE0F\\u20E3";
const PICTURE = "\\p{Extended_Pictographic}[\\uFE0F\\p{Emoji_Modifier}]?";
/** Scripts whose spelling needs joiners and non-joiners between letters. */
const JOINING = `[${[
  ...["Arabic", "Syriac", "Mongolian", "Nko", "Devanagari", "Bengali", "Gurmukhi", "Gujarati"],
  ...["Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala", "Khmer", "Myanmar", "Tibetan"],
]
  .map((script) => `\\p{Script=${script}}`)
  .join("")}]`;
const IN_PROSE = [
  `${PICTURE}(?:\\u200D${PICTURE})+`,
  // The flags of England, Scotland and Wales.
  "\\u{1F3F4}[\\u{E0030}-\\u{E0039}\\u{E0061}-\\u{E007A}]{1,6}\\u{E007F}",
  `(?<=${JOINING})[\\u200C\\u200D](?=${JOINING})`,
  "\\p{Script=Han}[\\uFE00-\\uFE0F\\u{E0100}-\\u{E01EF}]",
  "\\p{Script=Mongolian}[\\u180B-\\u180D\\u180F]",
].join("|");

/** Legitimate text is matched first, so that nothing in it counts as hidden. */
const patterns: Readonly<Record<Reading, RegExp>> = {
  decision: new RegExp(`${EVERYWHERE}|(${HIDDEN})`, "gv"),
  prose: new RegExp(`${IN_PROSE}|${EVERYWHERE}|(${HIDDEN})`, "gv"),
};
const anyHidden = new RegExp(HIDDEN, "v");

/** The text, and between its parts what cannot be seen. */
export function splitHidden(text: string, reading: Reading): readonly TextPiece[] {
  if (!anyHidden.test(text)) return text === "" ? [] : [text];
  const pieces: TextPiece[] = [];
  let from = 0;
  for (const { 1: hidden, index } of text.matchAll(patterns[reading])) {
    if (hidden === undefined) continue;
    if (index > from) pieces.push(text.slice(from, index));
    from = index + hidden.length;
    const code = nameCode(hidden);
    const last = pieces.at(-1);
    if (typeof last === "object" && last.code === code)
      pieces[pieces.length - 1] = { ...last, count: last.count + 1 };
    else pieces.push({ code, name: nameHidden(hidden), count: 1 });
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}

/** As a plain string, for titles, notifications and terminals. */
export function revealHidden(text: string, reading: Reading): string {
  if (!anyHidden.test(text)) return text;
  return splitHidden(text, reading)
    .map((piece) => (typeof piece === "string" ? piece : formatHidden(piece)))
    .join("");
}

/** `⟨U+200B⟩`, `⟨U+200B ×40⟩` */
export function formatHidden({ code, count }: HiddenCharacter): string {
  return count === 1 ? `⟨${code}⟩` : `⟨${code} ×${count}⟩`;
}

/** Every kind that occurs in a value's texts and names, each once. */
export function findHidden(value: unknown): readonly HiddenCharacter[] {
  const found = new Map<string, HiddenCharacter>();
  const look = (text: string) => {
    for (const piece of splitHidden(text, "decision")) {
      if (typeof piece === "string") continue;
      const count = (found.get(piece.code)?.count ?? 0) + piece.count;
      found.set(piece.code, { ...piece, count });
    }
  };
  // Called for every name and value, however deep.
  JSON.stringify(value, (key: string, inner: unknown) => {
    look(key);
    if (typeof inner === "string") look(inner);
    return inner;
  });
  return [...found.values()];
}

const KINDS_NAMED = 3;

/** `right-to-left override (U+202E), zero width space (U+200B) and 2 more`; undefined when there is none. */
export function describeHidden(value: unknown): string | undefined {
  const found = findHidden(value);
  if (found.length === 0) return undefined;
  const named = found.slice(0, KINDS_NAMED).map(({ name, code }) => `${name} (${code})`);
  const more = found.length - named.length;
  return more === 0 ? named.join(", ") : `${named.join(", ")} and ${more} more`;
}

function nameCode(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

const NAMES: Readonly<Record<string, string>> = {
  "\0": "null",
  "\b": "backspace",
  "\r": "carriage return",
  "\x1b": "escape",
  "\x7f": "delete",
  "\u00ad": "soft hyphen",
  "\u061c": "Arabic letter mark",
  "\u200b": "zero width space",
  "\u200c": "zero width non-joiner",
  "\u200d": "zero width joiner",
  "\u200e": "left-to-right mark",
  "\u200f": "right-to-left mark",
  "\u2028": "line separator",
  "\u2029": "paragraph separator",
  "\u202a": "left-to-right embedding",
  "\u202b": "right-to-left embedding",
  "\u202c": "pop directional formatting",
  "\u202d": "left-to-right override",
  "\u202e": "right-to-left override",
  "\u2060": "word joiner",
  "\u2066": "left-to-right isolate",
  "\u2067": "right-to-left isolate",
  "\u2068": "first strong isolate",
  "\u2069": "pop directional isolate",
  "\ufeff": "byte order mark",
};
const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/\p{Cc}/v, "control character"],
  [/\p{Cs}/v, "lone surrogate"],
  [/\p{Variation_Selector}/v, "variation selector"],
  [/[\u{E0000}-\u{E007F}]/v, "tag character"],
];

function nameHidden(character: string): string {
  const family = FAMILIES.find(([pattern]) => pattern.test(character));
  return NAMES[character] ?? family?.[1] ?? "invisible character";
}
