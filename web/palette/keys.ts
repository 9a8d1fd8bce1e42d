/** One press: a key with what is held down meanwhile. */
export interface Chord {
  /** A letter in lower case, a sign, or the name that browsers have for the key: `Enter`, `ArrowUp`. */
  readonly key: string;
  readonly ctrl: boolean;
  readonly alt: boolean;
  /** Only of letters and named keys: a sign is what it is, however a keyboard makes it. */
  readonly shift: boolean;
  readonly meta: boolean;
}

/** As much of a KeyboardEvent as is looked at. */
export interface KeyPress {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
  readonly metaKey: boolean;
}

const NAMES: Readonly<Record<string, string>> = {
  esc: "Escape",
  escape: "Escape",
  enter: "Enter",
  tab: "Tab",
  space: " ",
  up: "ArrowUp",
  down: "ArrowDown",
  left: "ArrowLeft",
  right: "ArrowRight",
};
const HELD = ["Control", "Shift", "Alt", "Meta", "AltGraph", "CapsLock", "Fn", "OS"];
/** Keys that have not said yet what they write. */
const UNDECIDED = ["Dead", "Process", "Unidentified"];

/** Reads `Mod+K`, `Ctrl+Shift+P`, `/` or `g s`: presses, one after the other. */
export function parseKeys(text: string, isMac: boolean): readonly Chord[] {
  return text
    .split(" ")
    .filter((part) => part !== "")
    .map((part) => parseChord(part, isMac));
}

/** What was pressed; undefined while only modifiers are, or a character is still being composed. */
export function chordOf(press: KeyPress): Chord | undefined {
  if (HELD.includes(press.key) || UNDECIDED.includes(press.key)) return undefined;
  const key = nameKey(press);
  return {
    key,
    ctrl: press.ctrlKey,
    alt: press.altKey,
    shift: press.shiftKey && !isSign(key),
    meta: press.metaKey,
  };
}

export function isSameChord(one: Chord, other: Chord): boolean {
  return (
    one.key === other.key &&
    one.ctrl === other.ctrl &&
    one.alt === other.alt &&
    one.shift === other.shift &&
    one.meta === other.meta
  );
}

/** The caps to draw, for each press. */
export function formatKeys(text: string, isMac: boolean): readonly (readonly string[])[] {
  return text
    .split(" ")
    .filter((part) => part !== "")
    .map((part) => splitChord(part).map((name) => formatCap(name, isMac)));
}

function parseChord(text: string, isMac: boolean): Chord {
  const names = splitChord(text);
  const held = names.slice(0, -1).map((name) => name.toLowerCase());
  const last = names.at(-1) ?? "";
  const key = NAMES[last.toLowerCase()] ?? (last.length === 1 ? last.toLowerCase() : last);
  const hasMod = held.includes("mod");
  return {
    key,
    ctrl: held.includes("ctrl") || (hasMod && !isMac),
    alt: held.includes("alt"),
    shift: held.includes("shift") && !isSign(key),
    meta: held.includes("meta") || (hasMod && isMac),
  };
}

/** `Ctrl++` is Ctrl and a plus. */
function splitChord(text: string): readonly string[] {
  if (text === "+") return ["+"];
  if (text.endsWith("++")) return [...text.slice(0, -2).split("+"), "+"];
  return text.split("+");
}

/** Keyboards of other scripts, and Alt on a Mac, write other characters: there the place of the key counts. */
function nameKey({ key, code }: KeyPress): string {
  if ([...key].length !== 1) return key;
  if (/^[\u0020-\u007e]$/.test(key)) return key.toLowerCase();
  const letter = /^(?:Key|Digit)([A-Z0-9])$/.exec(code)?.[1];
  return (letter ?? key).toLowerCase();
}

function isSign(key: string): boolean {
  return key.length === 1 && key !== " " && !/[a-z]/.test(key);
}

const CAPS: Readonly<Record<string, readonly [string, string]>> = {
  mod: ["Ctrl", "⌘"],
  ctrl: ["Ctrl", "⌃"],
  alt: ["Alt", "⌥"],
  shift: ["Shift", "⇧"],
  meta: ["Meta", "⌘"],
};

function formatCap(name: string, isMac: boolean): string {
  const cap = CAPS[name.toLowerCase()];
  if (cap === undefined) return name;
  return isMac ? cap[1] : cap[0];
}
