import { Fault } from "#contract/fault.ts";
import { keyNames } from "#contract/tools/terminal-tools.ts";

/** What a program has told its terminal about how it wants to hear keys. */
export interface KeyModes {
  readonly application_cursor: boolean;
}

interface Modifiers {
  readonly ctrl: boolean;
  readonly alt: boolean;
  readonly shift: boolean;
}

const ESC = "\x1b";
const MODIFIER = /^(ctrl|control|alt|meta|option|shift)[+-](?=.)/i;
/** Other words for the same key. */
const aliases: Readonly<Record<string, string>> = {
  return: "enter",
  esc: "escape",
  del: "delete",
  ins: "insert",
  pgup: "pageup",
  page_up: "pageup",
  pgdn: "pagedown",
  pgdown: "pagedown",
  page_down: "pagedown",
};
const plainKeys: Readonly<Record<string, string>> = {
  enter: "\r",
  tab: "\t",
  escape: ESC,
  space: " ",
  backspace: "\x7f",
};
/** The ones that sound different in application cursor mode. */
const cursorKeys: Readonly<Record<string, string>> = {
  up: "A",
  down: "B",
  right: "C",
  left: "D",
  home: "H",
  end: "F",
};
const firstFunctionKeys: Readonly<Record<string, string>> = { f1: "P", f2: "Q", f3: "R", f4: "S" };
const numberedKeys: Readonly<Record<string, number>> = {
  insert: 2,
  delete: 3,
  pageup: 5,
  pagedown: 6,
  f5: 15,
  f6: 17,
  f7: 18,
  f8: 19,
  f9: 20,
  f10: 21,
  f11: 23,
  f12: 24,
};
/** What Ctrl makes of keys that are no letters. */
const controls: Readonly<Record<string, string>> = {
  " ": "\0",
  "@": "\0",
  "[": ESC,
  "\\": "\x1c",
  "]": "\x1d",
  "^": "\x1e",
  _: "\x1f",
  "/": "\x1f",
  "?": "\x7f",
};

/** The bytes of a key, as an xterm sends them. Throws `invalid_request` for what is no key. */
export function encodeKey(key: string, modes: KeyModes): string {
  if ([...key].length === 1) return key === "\n" ? "\r" : key;
  const { rest, modifiers } = takeModifiers(key);
  const bytes =
    [...rest].length === 1
      ? encodeCharacter(rest, modifiers)
      : encodeNamed(nameOf(rest), { modifiers, modes });
  if (bytes === undefined) throw unknownKey(key);
  return bytes;
}

function takeModifiers(key: string): { readonly rest: string; readonly modifiers: Modifiers } {
  const found = new Set<string>();
  let rest = key;
  for (;;) {
    const match = MODIFIER.exec(rest);
    if (match === null) break;
    found.add((match[1] ?? "").toLowerCase());
    rest = rest.slice(match[0].length);
  }
  const has = (...names: readonly string[]) => names.some((name) => found.has(name));
  const modifiers = {
    ctrl: has("ctrl", "control"),
    alt: has("alt", "meta", "option"),
    shift: has("shift"),
  };
  return { rest, modifiers };
}

function nameOf(rest: string): string {
  const name = rest.toLowerCase();
  return aliases[name] ?? name;
}

function encodeCharacter(character: string, modifiers: Modifiers): string | undefined {
  const { ctrl, alt, shift } = modifiers;
  const upper = character.toUpperCase();
  // What Shift makes of a digit or a sign depends on the keyboard.
  if (shift && upper === character.toLowerCase()) return undefined;
  const plain = shift ? upper : character;
  const held = ctrl ? controlOf(plain) : plain;
  return held === undefined || !alt ? held : `${ESC}${held}`;
}

function controlOf(character: string): string | undefined {
  if (/^[a-z]$/i.test(character))
    return String.fromCharCode(character.toUpperCase().charCodeAt(0) - 64);
  return controls[character];
}

interface Pressed {
  readonly modifiers: Modifiers;
  readonly modes: KeyModes;
}

function encodeNamed(name: string, { modifiers, modes }: Pressed): string | undefined {
  const number =
    1 + Number(modifiers.shift) + 2 * Number(modifiers.alt) + 4 * Number(modifiers.ctrl);
  const isPlain = number === 1;
  const cursor = cursorKeys[name];
  if (cursor !== undefined) {
    if (!isPlain) return `${ESC}[1;${number}${cursor}`;
    return modes.application_cursor ? `${ESC}O${cursor}` : `${ESC}[${cursor}`;
  }
  const first = firstFunctionKeys[name];
  if (first !== undefined) return isPlain ? `${ESC}O${first}` : `${ESC}[1;${number}${first}`;
  const numbered = numberedKeys[name];
  if (numbered !== undefined) return `${ESC}[${numbered}${isPlain ? "" : `;${number}`}~`;
  return encodePlain(name, modifiers);
}

function encodePlain(name: string, { ctrl, alt, shift }: Modifiers): string | undefined {
  const prefix = alt ? ESC : "";
  if (name === "tab" && shift && !ctrl) return `${prefix}${ESC}[Z`;
  if (name === "space" && ctrl && !shift) return `${prefix}\0`;
  if (name === "backspace" && ctrl && !shift) return `${prefix}\b`;
  const plain = plainKeys[name];
  // A terminal has no other bytes for Enter with Shift or Ctrl, and a key that does less than it says misleads.
  if (plain === undefined || ctrl || shift) return undefined;
  return `${prefix}${plain}`;
}

function unknownKey(key: string): Fault {
  const some = [...keyNames, "ctrl+c", "alt+x"].join(", ");
  return new Fault(
    "invalid_request",
    `keys: a terminal knows no key ${JSON.stringify(key)}. It knows ${some}, and single characters; what is to be typed goes into text.`,
    { details: { field: "keys", key } },
  );
}
