/** Keys that a phone's keyboard does not have, and modifiers that stay down until the next key. */
export const quickKeys = [
  { id: "escape", label: "Esc", sign: "Esc" },
  { id: "tab", label: "Tab", sign: "Tab" },
  { id: "left", label: "Left", sign: "←" },
  { id: "up", label: "Up", sign: "↑" },
  { id: "down", label: "Down", sign: "↓" },
  { id: "right", label: "Right", sign: "→" },
  { id: "interrupt", label: "Control C", sign: "^C" },
  { id: "pipe", label: "Pipe", sign: "|" },
  { id: "tilde", label: "Tilde", sign: "~" },
  { id: "slash", label: "Slash", sign: "/" },
  { id: "dash", label: "Dash", sign: "-" },
] as const;

export type QuickKey = (typeof quickKeys)[number]["id"];
export type Modifier = "ctrl" | "alt";
/** `once`: for the next key. `locked`: until it is pressed again. */
export type Stickiness = "off" | "once" | "locked";
export type StickyKeys = Readonly<Record<Modifier, Stickiness>>;

export const NO_STICKY_KEYS: StickyKeys = { ctrl: "off", alt: "off" };

const nextPress = { off: "once", once: "locked", locked: "off" } as const;

export function pressModifier(sticky: StickyKeys, modifier: Modifier): StickyKeys {
  return { ...sticky, [modifier]: nextPress[sticky[modifier]] };
}

/** A key was typed: what was for it alone is up again. */
export function releaseModifiers(sticky: StickyKeys): StickyKeys {
  if (sticky.ctrl !== "once" && sticky.alt !== "once") return sticky;
  const release = (one: Stickiness) => (one === "once" ? "off" : one);
  return { ctrl: release(sticky.ctrl), alt: release(sticky.alt) };
}

export function isAnyDown({ ctrl, alt }: StickyKeys): boolean {
  return ctrl !== "off" || alt !== "off";
}

const arrows: Readonly<Partial<Record<QuickKey, string>>> = {
  up: "A",
  down: "B",
  right: "C",
  left: "D",
};
const texts: Readonly<Partial<Record<QuickKey, string>>> = {
  escape: "\x1b",
  tab: "\t",
  interrupt: "\x03",
  pipe: "|",
  tilde: "~",
  slash: "/",
  dash: "-",
};

/** What a terminal sends for it. Programs that asked for it (`applicationCursor`) get other arrows. */
export function encodeQuickKey(
  key: QuickKey,
  sticky: StickyKeys,
  { applicationCursor }: { readonly applicationCursor: boolean },
): string {
  const arrow = arrows[key];
  if (arrow === undefined) return modify(texts[key] ?? "", sticky);
  const modifiers = (sticky.alt === "off" ? 0 : 2) + (sticky.ctrl === "off" ? 0 : 4);
  if (modifiers > 0) return `\x1b[1;${modifiers + 1}${arrow}`;
  return applicationCursor ? `\x1bO${arrow}` : `\x1b[${arrow}`;
}

/** A character with the modifiers that are down; anything longer, such as a paste, is left as it is. */
export function modify(text: string, sticky: StickyKeys): string {
  if ([...text].length !== 1) return text;
  const typed = sticky.ctrl === "off" ? text : withControl(text);
  return sticky.alt === "off" ? typed : `\x1b${typed}`;
}

/** As xterm does it: letters and a few signs have a control character, the others stay what they are. */
const controls: Readonly<Record<string, string>> = {
  " ": "\x00",
  "@": "\x00",
  "2": "\x00",
  "[": "\x1b",
  "3": "\x1b",
  "\\": "\x1c",
  "|": "\x1c",
  "4": "\x1c",
  "]": "\x1d",
  "5": "\x1d",
  "^": "\x1e",
  "~": "\x1e",
  "6": "\x1e",
  _: "\x1f",
  "-": "\x1f",
  "/": "\x1f",
  "7": "\x1f",
  "?": "\x7f",
  "8": "\x7f",
};
const CONTROL_BITS = 0x1f;

function withControl(character: string): string {
  if (/^[a-z]$/i.test(character))
    return String.fromCharCode(character.charCodeAt(0) & CONTROL_BITS);
  return controls[character] ?? character;
}
