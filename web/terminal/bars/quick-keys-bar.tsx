import { type KeyboardEvent, type PointerEvent, useRef, useState } from "react";
import { useStore } from "#web/live/store.ts";
import { type Modifier, quickKeys, type Stickiness } from "#web/terminal/quick-keys.ts";
import type { TerminalRoom } from "#web/terminal/terminal-room.ts";
import css from "./quick-keys-bar.module.css";

const modifiers: readonly { readonly id: Modifier; readonly label: string }[] = [
  { id: "ctrl", label: "Ctrl" },
  { id: "alt", label: "Alt" },
];
/** Modifiers stand behind Escape and Tab, where keyboards have them. */
const MODIFIERS_AT = 2;
const KEYS = quickKeys.length + modifiers.length;

/** Keys that a phone does not have. Pressing one leaves the focus, and so the phone's keyboard, where it is. */
export function QuickKeysBar({ room }: { readonly room: TerminalRoom }) {
  const sticky = useStore(room.sticky);
  const bar = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(0);
  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = (current + step + KEYS) % KEYS;
    setCurrent(next);
    bar.current?.querySelectorAll("button")[next]?.focus();
  };
  const shared = (at: number) => ({
    type: "button" as const,
    tabIndex: at === current ? 0 : -1,
    onPointerDown: keepFocus,
    onFocus: () => setCurrent(at),
  });
  const key = ({ id, label, sign }: (typeof quickKeys)[number], at: number) => (
    <button key={id} {...shared(at)} aria-label={label} onClick={() => room.press(id)}>
      {sign}
    </button>
  );
  return (
    <div ref={bar} className={css.bar} role="toolbar" aria-label="Quick keys" onKeyDown={move}>
      {quickKeys.slice(0, MODIFIERS_AT).map(key)}
      {modifiers.map(({ id, label }, at) => (
        <button
          key={id}
          {...shared(MODIFIERS_AT + at)}
          aria-label={sayModifier(label, sticky[id])}
          aria-pressed={sticky[id] !== "off"}
          data-stickiness={sticky[id]}
          onClick={() => room.pressModifier(id)}
        >
          {label}
        </button>
      ))}
      {quickKeys
        .slice(MODIFIERS_AT)
        .map((one, at) => key(one, MODIFIERS_AT + modifiers.length + at))}
    </div>
  );
}

function keepFocus(event: PointerEvent): void {
  event.preventDefault();
}

function sayModifier(label: string, stickiness: Stickiness): string {
  return stickiness === "locked" ? `${label}, locked` : label;
}
