import { useEffect, useRef, useState } from "react";
import { useStore } from "#web/live/store.ts";
import type { Found, TerminalRoom } from "#web/terminal/terminal-room.ts";
import { IconButton } from "#web/ui/button.tsx";
import css from "./search-bar.module.css";

const SEARCH_CHARS = 500;

/** Looks for a text in what the terminal shows and what has scrolled away. */
export function SearchBar({
  room,
  onClose,
}: {
  readonly room: TerminalRoom;
  readonly onClose: () => void;
}) {
  const [text, setText] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const found = useStore(room.found);
  useEffect(() => {
    input.current?.focus();
    return () => room.endSearch();
  }, [room]);
  const onEscape = (event: React.KeyboardEvent) => {
    if (event.key === "Escape") onClose();
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    room.find(text, event.shiftKey ? "previous" : "next");
  };
  return (
    <search className={css.bar} aria-label="Search in the terminal" onKeyDown={onEscape}>
      <input
        ref={input}
        className={css.input}
        type="text"
        aria-label="Search for"
        placeholder="Search for"
        maxLength={SEARCH_CHARS}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          room.find(event.target.value, "here");
        }}
        onKeyDown={onKeyDown}
      />
      <output className={css.count} aria-live="polite">
        {text === "" ? "" : sayFound(found)}
      </output>
      <IconButton
        icon="up"
        label="Previous match"
        disabled={text === ""}
        onClick={() => room.find(text, "previous")}
      />
      <IconButton
        icon="down"
        label="Next match"
        disabled={text === ""}
        onClick={() => room.find(text, "next")}
      />
      <IconButton icon="close" label="Close the search" onClick={onClose} />
    </search>
  );
}

function sayFound(found: Found | undefined): string {
  if (found === undefined || found.count === 0) return "Nothing found";
  return found.index < 0 ? `${found.count} and more` : `${found.index + 1} of ${found.count}`;
}
