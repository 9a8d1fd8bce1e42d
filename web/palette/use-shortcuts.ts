import { useEffect } from "react";
import { useApp } from "#web/app/context.ts";
import { chordOf } from "./keys.ts";
import { isMac } from "./platform.ts";
import { bindKeys, NOTHING_BEGUN, type Place, pressKey } from "./shortcuts.ts";

/** Runs commands by their keys, wherever the focus is. */
export function useShortcuts(): void {
  const { commands } = useApp();
  useEffect(() => {
    let bound = bindKeys(commands.list.get(), isMac);
    let begun = NOTHING_BEGUN;
    const forget = commands.list.subscribe(() => {
      bound = bindKeys(commands.list.get(), isMac);
    });
    const onKey = (event: KeyboardEvent) => {
      const chord = event.isComposing ? undefined : chordOf(event);
      // A dialog in front has its own keys.
      if (chord === undefined || document.querySelector("dialog:modal") !== null) return;
      // A key that is held down moves on in a list, but opens nothing twice.
      if (event.repeat && (chord.ctrl || chord.alt || chord.meta)) return;
      const press = {
        chord,
        isShifted: event.shiftKey,
        place: findPlace(event.target),
        at: event.timeStamp,
      };
      const pressed = pressKey(begun, press, bound);
      begun = pressed.begun;
      if (!pressed.isTaken) return;
      event.preventDefault();
      event.stopPropagation();
      pressed.command?.run();
    };
    // Before all others: a terminal lets no press go further.
    window.addEventListener("keydown", onKey, { capture: true });
    return () => {
      forget();
      window.removeEventListener("keydown", onKey, { capture: true });
    };
  }, [commands]);
}

const NO_TEXT = ["button", "checkbox", "radio", "range", "submit", "reset", "color", "file"];
/** A press in one of these looks for the entry that begins with it. */
const TYPED_AHEAD = "select, [role=menu], [role=listbox], [role=combobox]";

function findPlace(target: EventTarget | null): Place {
  if (!(target instanceof HTMLElement)) return "page";
  if (target.classList.contains("xterm-helper-textarea")) return "terminal";
  if (target instanceof HTMLInputElement) return NO_TEXT.includes(target.type) ? "page" : "text";
  if (target instanceof HTMLTextAreaElement || target.isContentEditable) return "text";
  return target.closest(TYPED_AHEAD) === null ? "page" : "text";
}
