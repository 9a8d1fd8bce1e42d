import { encodeKey, type KeyModes } from "./keys.ts";
import { encodePaste, encodeTyped } from "./typed-text.ts";
import type { Part } from "./typing.ts";

/** The modes that a program has set in its terminal and that change how text and keys reach it. */
export type Modes = KeyModes & { readonly bracketed_paste: boolean };

export const PLAIN: Modes = { application_cursor: false, bracketed_paste: false };
const MARKED: Modes = { application_cursor: false, bracketed_paste: true };
const APPLICATION: Modes = { application_cursor: true, bracketed_paste: true };

export interface Typed {
  /** A text that is meant as a whole: a message, a command. Keys follow it. */
  readonly text: string;
  readonly keys: readonly string[];
  /** Enter behind the text. */
  readonly enter: boolean;
}

/**
 * A program that knows pastes gets the text as one, and each key in a write of its own: text and Enter that arrive
 * together are a paste without an end for some of them (codex), which submits nothing.
 *
 * Not for a program with application cursor keys: that is an editor or a pager (vim), for which text is commands, and
 * a paste would be written into the file. Nor for a single character, which menus read as a key.
 */
export function encodeLine({ text, keys, enter }: Typed, modes: Modes): Part[] {
  const pressed = keys.map((key) => ({ kind: "key", bytes: encodeKey(key, modes) }) as const);
  if (!modes.bracketed_paste || modes.application_cursor) {
    const bytes = encodeTyped(enter ? `${text}\n` : text);
    return [...asPart(bytes), ...pressed];
  }
  const isKey = [...text].length === 1;
  return [
    ...asPart(isKey ? encodeTyped(text) : encodePaste(text, modes)),
    ...(enter ? [{ kind: "key", bytes: "\r" } as const] : []),
    ...pressed,
  ];
}

/** Whether the modes make a difference; otherwise nothing has to be drawn to find them. */
export function dependsOnModes(encode: (modes: Modes) => readonly Part[]): boolean {
  const encoded = [PLAIN, MARKED, APPLICATION].map((modes) =>
    JSON.stringify(encode(modes).map(({ bytes }) => bytes)),
  );
  return new Set(encoded).size > 1;
}

function asPart(bytes: string): Part[] {
  return bytes === "" ? [] : [{ kind: "text", bytes }];
}
