import { type KeyboardEvent, type RefObject, useId } from "react";
import { revealHidden } from "#contract/text/hidden-characters.ts";
import { KINDS, type ListChoice, ORDERS, PHASES } from "#web/sessions/session-rows.ts";
import { SearchBox } from "#web/ui/search-box.tsx";
import css from "./filter-bar.module.css";
import { chooseList } from "./list-choice.ts";

const PHASE_WORDS: Readonly<Record<ListChoice["phase"], string>> = {
  all: "All",
  running: "Live",
  asking: "Needs you",
  ended: "Ended",
};
const KIND_WORDS: Readonly<Record<ListChoice["kind"], string>> = {
  all: "All types",
  terminal: "Terminals",
  command: "Commands",
  agent: "Agents",
};
const ORDER_WORDS: Readonly<Record<ListChoice["order"], string>> = {
  newest: "Newest first",
  activity: "Last activity",
  name: "By name",
};

interface FilterBarProps {
  readonly searchRef: RefObject<HTMLInputElement | null>;
  readonly choice: ListChoice;
  readonly counts: Readonly<Record<ListChoice["phase"], number>>;
  readonly workspaces: ReadonlyMap<string, string> | undefined;
}

export function FilterBar({ searchRef, choice, counts, workspaces }: FilterBarProps) {
  return (
    <search className={css.bar}>
      <SearchField searchRef={searchRef} value={choice.search} />
      <fieldset className={css.chips} aria-label="Show">
        {PHASES.map((phase) => (
          <button
            key={phase}
            type="button"
            className={css.chip}
            aria-pressed={choice.phase === phase}
            data-urgent={phase === "asking" && counts.asking > 0}
            onClick={() => chooseList({ phase })}
          >
            {PHASE_WORDS[phase]} <span className={css.count}>{counts[phase]}</span>
          </button>
        ))}
      </fieldset>
      <div className={css.choices}>
        <Choice
          label="Kind"
          value={choice.kind}
          options={KINDS.map((kind) => [kind, KIND_WORDS[kind]])}
          onChoose={(value) => chooseList({ kind: KINDS.find((kind) => kind === value) ?? "all" })}
        />
        {workspaces === undefined ? null : (
          <Choice
            label="Workspace"
            value={choice.workspaceId ?? ""}
            options={[
              ["", "All workspaces"],
              ...[...workspaces].map(([id, name]) => [id, revealHidden(name, "prose")] as const),
            ]}
            onChoose={(value) => chooseList({ workspaceId: value === "" ? undefined : value })}
          />
        )}
        <Choice
          label="Order"
          value={choice.order}
          options={ORDERS.map((order) => [order, ORDER_WORDS[order]])}
          onChoose={(value) =>
            chooseList({ order: ORDERS.find((order) => order === value) ?? "newest" })
          }
        />
      </div>
    </search>
  );
}

interface SearchFieldProps {
  readonly searchRef: RefObject<HTMLInputElement | null>;
  readonly value: string;
}

function SearchField({ searchRef, value }: SearchFieldProps) {
  const leave = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key !== "Escape") return;
    if (value === "") event.currentTarget.blur();
    chooseList({ search: "" });
  };
  return (
    <SearchBox
      ref={searchRef}
      className={css.search}
      aria-label="Search sessions"
      aria-keyshortcuts="/"
      placeholder="Name, command, directory, agent, id"
      value={value}
      onChange={(event) => chooseList({ search: event.target.value })}
      onKeyDown={leave}
    >
      {value === "" ? <kbd>/</kbd> : null}
    </SearchBox>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, words: string])[];
  readonly onChoose: (value: string) => void;
}

function Choice({ label, value, options, onChoose }: ChoiceProps) {
  const id = useId();
  return (
    <span className={css.choice}>
      <label htmlFor={id} className="visually-hidden">
        {label}
      </label>
      <select id={id} value={value} onChange={(event) => onChoose(event.target.value)}>
        {options.map(([option, words]) => (
          <option key={option} value={option}>
            {words}
          </option>
        ))}
      </select>
    </span>
  );
}
