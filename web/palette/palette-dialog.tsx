import {
  type KeyboardEvent,
  useDeferredValue,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { flushSync } from "react-dom";
import type { Command } from "#web/app/commands.ts";
import { useApp } from "#web/app/context.ts";
import { useStore } from "#web/live/store.ts";
import { Icon } from "#web/ui/icons.tsx";
import { type Choice, findChoices, type Section } from "./choices.ts";
import { ofCommand, ofSession, sortCommands } from "./make-choices.ts";
import css from "./palette.module.css";
import { PaletteList } from "./palette-list.tsx";
import { noteRecent, readRecent } from "./recent.ts";

interface PaletteDialogProps {
  readonly onClose: () => void;
  readonly leftOut: readonly Command[];
}

/** A field, and below it what it may mean; the focus stays in the field. */
export function PaletteDialog({ onClose, leftOut }: PaletteDialogProps) {
  const dialog = useModal();
  const [query, setQuery] = useState("");
  const sections = useSections(query, leftOut);
  const found = useMemo(() => sections.flatMap((section) => section.found), [sections]);
  const [index, setIndex] = useState(0);
  const current = Math.min(index, Math.max(0, found.length - 1));
  const id = useId();
  useEffect(() => {
    document.getElementById(`${id}-${current}`)?.scrollIntoView({ block: "nearest" });
  }, [id, current]);
  const choose = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    noteRecent(choice.id);
    // First the dialog gives the focus back, then the command may put it elsewhere.
    flushSync(onClose);
    choice.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (isOpener(event)) onClose();
    else if (event.key === "Enter") choose(found[current]?.choice);
    else {
      const next = moveTo(event.key, current, found.length);
      if (next === undefined) return;
      setIndex(next);
    }
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys close it by Escape.
    <dialog
      ref={dialog}
      className={css.dialog}
      aria-label="Palette"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        // Only the backdrop is the dialog itself.
        if (event.target === dialog.current) onClose();
      }}
    >
      <div className={css.field}>
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label="Go to a session, or do something"
          aria-expanded={found.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={found.length === 0 ? undefined : `${id}-${current}`}
          placeholder="Go to a session, or do something"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          maxLength={QUERY_CHARS}
          value={query}
          onChange={(event) => {
            setQuery(event.target.value);
            setIndex(0);
          }}
          onKeyDown={onKeyDown}
        />
        <button type="button" className={css.close} onClick={onClose}>
          Close
        </button>
      </div>
      <PaletteList id={id} sections={sections} current={current} onChoose={choose} />
      <p className="visually-hidden" role="status">
        {found.length === 0 ? "Nothing is called so" : `${found.length} found`}
      </p>
    </dialog>
  );
}

const QUERY_CHARS = 200;
const PAGE = 8;

/** Closed before it leaves the page: only then does the browser give the focus back. */
function useModal() {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return dialog;
}

function useSections(query: string, leftOut: readonly Command[]): readonly Section[] {
  const app = useApp();
  const commands = useStore(app.commands.list);
  const { sessions, asking } = useStore(app.sessions.view);
  const [recent] = useState(readRecent);
  const wanted = useDeferredValue(query);
  const choices = useMemo(
    () => [
      ...sortCommands(commands.filter((command) => !leftOut.includes(command))).map(ofCommand),
      ...[...sessions.values()].map((session) => ofSession(session, asking)),
    ],
    [commands, sessions, asking, leftOut],
  );
  return useMemo(() => findChoices(choices, { query: wanted, recent }), [choices, wanted, recent]);
}

/** The keys that opened it close it. */
function isOpener({ key, ctrlKey, metaKey, shiftKey }: KeyboardEvent): boolean {
  const letter = key.toLowerCase();
  if (letter === "k") return (ctrlKey || metaKey) && !shiftKey;
  return letter === "p" && ctrlKey && shiftKey;
}

function moveTo(key: string, from: number, count: number): number | undefined {
  if (count === 0) return undefined;
  switch (key) {
    case "ArrowDown":
      return (from + 1) % count;
    case "ArrowUp":
      return (from + count - 1) % count;
    case "PageDown":
      return Math.min(from + PAGE, count - 1);
    case "PageUp":
      return Math.max(from - PAGE, 0);
    default:
      return undefined;
  }
}
