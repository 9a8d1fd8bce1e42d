import type { Command } from "#web/app/commands.ts";
import { type Chord, isSameChord, parseKeys } from "./keys.ts";

/**
 * From presses to commands:
 *
 *   nothing ── a press that begins something ──▶ begun ── the press that ends it ──▶ the command, and nothing again
 *                                                  └── another press, or SEQUENCE_MS ──▶ as if it came first
 */
export type Begun = { readonly chords: readonly Chord[]; readonly at: number };

export const NOTHING_BEGUN: Begun = { chords: [], at: 0 };

/** Whoever has not gone on after this has thought of something else. */
export const SEQUENCE_MS = 1200;

/** Where the press goes if nobody takes it: to the page, to a field, to a child. */
export type Place = "page" | "text" | "terminal";

interface Bound {
  readonly command: Command;
  readonly chords: readonly Chord[];
}

interface Press {
  readonly chord: Chord;
  readonly isShifted: boolean;
  readonly place: Place;
  readonly at: number;
}

interface Pressed {
  readonly begun: Begun;
  readonly command: Command | undefined;
  /** It was for us: nobody else should see it. */
  readonly isTaken: boolean;
}

export function bindKeys(commands: readonly Command[], isMac: boolean): readonly Bound[] {
  return commands.flatMap((command) => {
    const chords = parseKeys(command.keys ?? "", isMac);
    return chords.length === 0 ? [] : [{ command, chords }];
  });
}

export function pressKey(begun: Begun, press: Press, bound: readonly Bound[]): Pressed {
  if (!isOurs(press)) return { begun: NOTHING_BEGUN, command: undefined, isTaken: false };
  const isFresh = begun.chords.length > 0 && press.at - begun.at <= SEQUENCE_MS;
  const goneOn = isFresh ? look([...begun.chords, press.chord], press, bound) : undefined;
  return (
    goneOn ??
    look([press.chord], press, bound) ?? {
      begun: NOTHING_BEGUN,
      command: undefined,
      isTaken: false,
    }
  );
}

/** What somebody types belongs to the field, and almost all of it to a child. */
function isOurs({ chord, isShifted, place }: Press): boolean {
  const hasModifier = chord.ctrl || chord.alt || chord.meta;
  if (place === "page") return true;
  if (place === "text") return hasModifier;
  return chord.meta || (isShifted && hasModifier);
}

function look(
  chords: readonly Chord[],
  { at }: Press,
  bound: readonly Bound[],
): Pressed | undefined {
  const possible = bound.filter((one) => startsWith(one.chords, chords));
  // The view that came last is the one in front.
  const done = possible.findLast((one) => one.chords.length === chords.length);
  if (done !== undefined) return { begun: NOTHING_BEGUN, command: done.command, isTaken: true };
  if (possible.length === 0) return undefined;
  return { begun: { chords, at }, command: undefined, isTaken: true };
}

function startsWith(whole: readonly Chord[], start: readonly Chord[]): boolean {
  return start.every((chord, index) => {
    const other = whole[index];
    return other !== undefined && isSameChord(chord, other);
  });
}
