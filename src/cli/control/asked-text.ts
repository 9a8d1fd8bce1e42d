import { describeHidden, revealHidden } from "#contract/text/hidden-characters.ts";

/** Text that a person answers: every character in it that a terminal would not show is spelled out. */
export function askedText(text: string): string {
  return revealHidden(text, "decision");
}

/** The line that warns of what is hidden in a value; none where nothing is. */
export function warnOfHidden(value: unknown): readonly string[] {
  const found = describeHidden(value);
  return found === undefined ? [] : [`Warning: hidden characters: ${found}`];
}
