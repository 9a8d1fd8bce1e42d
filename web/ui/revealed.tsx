import type { ReactNode } from "react";
import {
  describeHidden,
  formatHidden,
  type HiddenCharacter,
  type Reading,
  splitHidden,
} from "#contract/text/hidden-characters.ts";
import { Notice } from "./notice.tsx";
import css from "./revealed.module.css";

/** Chips in one text; further hidden characters are spelled out without one. */
const CHIPS_MOST = 500;

interface RevealedProps {
  readonly text: string;
  readonly reading: Reading;
}

/** Text from outside with its hidden characters as chips, for a place that is isolated already. */
export function Revealed({ text, reading }: RevealedProps): ReactNode {
  const pieces = splitHidden(text, reading);
  if (pieces.every((piece) => typeof piece === "string")) return text;
  let chips = 0;
  return pieces.map((piece, at) => {
    if (typeof piece === "string") return piece;
    chips += 1;
    if (chips > CHIPS_MOST) return formatHidden(piece);
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no name, and are drawn anew when the text changes.
    return <Chip key={at} hidden={piece} />;
  });
}

/** The same on a line with other words: its direction does not reach them, and theirs does not reach it. */
export function Isolated({ text, reading }: RevealedProps) {
  return (
    <bdi>
      <Revealed text={text} reading={reading} />
    </bdi>
  );
}

function Chip({ hidden }: { readonly hidden: HiddenCharacter }) {
  const { code, name, count } = hidden;
  const label = `${count === 1 ? "hidden character" : `${count} hidden characters`} ${code}, ${name}`;
  return (
    <span role="img" aria-label={label} title={`${code}, ${name}`} className={css.chip}>
      {formatHidden(hidden)}
    </span>
  );
}

/** Says what is hidden in what a person decides on; nothing where nothing is. */
export function HiddenWarning({ value }: { readonly value: unknown }) {
  const found = describeHidden(value);
  if (found === undefined) return null;
  return (
    <Notice tone="warn">
      <strong>Hidden characters:</strong> {found}. They are marked like <code>⟨U+200B⟩</code> below
      and can make text look different from what it does.
    </Notice>
  );
}
