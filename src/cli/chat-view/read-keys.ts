import type { Key } from "ink";
import type { Press } from "#cli/chat/keys.ts";

const controls: Readonly<Record<string, Press>> = {
  "\r": { kind: "enter" },
  "\n": { kind: "newline" },
  "\t": { kind: "tab" },
  "\u007f": { kind: "edit", key: "backspace" },
  "\b": { kind: "edit", key: "backspace" },
  "\u0001": { kind: "edit", key: "home" },
  "\u0002": { kind: "edit", key: "left" },
  "\u0003": { kind: "interrupt" },
  "\u0004": { kind: "leave" },
  "\u0005": { kind: "edit", key: "end" },
  "\u0006": { kind: "edit", key: "right" },
  "\u000b": { kind: "edit", key: "kill_rest" },
  "\u000f": { kind: "unfold" },
  "\u0015": { kind: "edit", key: "kill_line" },
  "\u0017": { kind: "edit", key: "kill_word" },
};

const named: readonly (readonly [keyof Key, Press])[] = [
  ["escape", { kind: "escape" }],
  ["tab", { kind: "tab" }],
  ["upArrow", { kind: "up" }],
  ["downArrow", { kind: "down" }],
  ["leftArrow", { kind: "edit", key: "left" }],
  ["rightArrow", { kind: "edit", key: "right" }],
  ["home", { kind: "edit", key: "home" }],
  ["end", { kind: "edit", key: "end" }],
  ["backspace", { kind: "edit", key: "backspace" }],
  ["delete", { kind: "edit", key: "delete" }],
];

/** What Ink has read. Keys that were pressed fast come together, so a text may have an Enter in it. */
export function readKeys(input: string, key: Key): readonly Press[] {
  if (key.return) return [{ kind: key.meta || key.shift ? "newline" : "enter" }];
  const found = named.find(([name]) => key[name] === true);
  if (found !== undefined) return [found[1]];
  if (key.ctrl) {
    const press = controls[String.fromCharCode(input.toLowerCase().charCodeAt(0) & 0x1f)];
    return press === undefined ? [] : [press];
  }
  return key.meta ? [] : readText(input);
}

function readText(input: string): Press[] {
  const pieces = input.match(/\p{Cc}|\P{Cc}+/gu) ?? [];
  return pieces.flatMap((piece): Press[] => {
    if (!/^\p{Cc}/u.test(piece)) return [{ kind: "text", text: piece }];
    const press = controls[piece];
    return press === undefined ? [] : [press];
  });
}
