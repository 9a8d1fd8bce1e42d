import { Badge } from "#web/ui/badge.tsx";
import { Icon } from "#web/ui/icons.tsx";
import type { Choice, Found, Section } from "./choices.ts";
import type { Span } from "./fuzzy.ts";
import { Keys } from "./keys-view.tsx";
import css from "./palette.module.css";

interface PaletteListProps {
  readonly id: string;
  readonly sections: readonly Section[];
  /** Counted over all sections. */
  readonly current: number;
  readonly onChoose: (choice: Choice) => void;
}

export function PaletteList({ id, sections, current, onChoose }: PaletteListProps) {
  const firsts = countFirsts(sections);
  return (
    <>
      <div id={`${id}-list`} className={css.list} role="listbox" aria-label="What it may mean">
        {sections.map(({ title, found }, place) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a list of options.
          <div key={title} role="group" aria-labelledby={`${id}-${title}`}>
            <p className={css.section} id={`${id}-${title}`} role="presentation">
              {title}
            </p>
            {found.map((one, offset) => {
              const index = (firsts[place] ?? 0) + offset;
              return (
                <Option
                  key={one.choice.id}
                  id={`${id}-${index}`}
                  found={one}
                  isCurrent={index === current}
                  onChoose={onChoose}
                />
              );
            })}
          </div>
        ))}
      </div>
      {sections.length === 0 ? (
        <p className={css.nothing}>
          Nothing is called so. Try fewer letters, a directory, or the id of a session.
        </p>
      ) : null}
    </>
  );
}

interface OptionProps {
  readonly id: string;
  readonly found: Found;
  readonly isCurrent: boolean;
  readonly onChoose: (choice: Choice) => void;
}

function Option({ id, found: { choice, spans }, isCurrent, onChoose }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys, and the focus.
    <div
      id={id}
      className={css.option}
      role="option"
      tabIndex={-1}
      aria-selected={isCurrent}
      onClick={() => onChoose(choice)}
    >
      <Icon name={choice.icon} />
      <bdi className={css.title}>
        <Marked text={choice.title} spans={spans} />
      </bdi>
      {choice.isAsking ? <Badge tone="accent">needs you</Badge> : null}
      {choice.kind === "session" && !choice.isLive ? <Badge>ended</Badge> : null}
      <bdi className={css.note}>{choice.note}</bdi>
      {choice.keys === undefined ? null : <Keys keys={choice.keys} />}
    </div>
  );
}

/** Spans are sorted and do not overlap. */
function Marked({ text, spans }: { readonly text: string; readonly spans: readonly Span[] }) {
  const ends = [0, ...spans.map(([, to]) => to)];
  return (
    <>
      {spans.map(([from, to], index) => (
        <span key={from}>
          {text.slice(ends[index], from)}
          <mark>{text.slice(from, to)}</mark>
        </span>
      ))}
      {text.slice(ends.at(-1))}
    </>
  );
}

function countFirsts(sections: readonly Section[]): readonly number[] {
  const firsts: number[] = [];
  let count = 0;
  for (const { found } of sections) {
    firsts.push(count);
    count += found.length;
  }
  return firsts;
}
