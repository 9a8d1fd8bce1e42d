/** The bytes that a terminal sends for a key. */

const NAMED = {
  Enter: "\r",
  Tab: "\t",
  Escape: "\x1b",
  Space: " ",
  BSpace: "\x7f",
} as const;

const ARROWS = { Up: "A", Down: "B", Right: "C", Left: "D" } as const;

export type KeyName = keyof typeof NAMED | keyof typeof ARROWS | `C-${string}` | (string & {});

const CONTROL_MASK = 0x1f;

/** `hasCursorKeys`: the program asked for its own sequences for the arrows. */
export function sequenceOf(key: KeyName, hasCursorKeys: boolean): string {
  if (Object.hasOwn(NAMED, key)) return NAMED[key as keyof typeof NAMED];
  if (Object.hasOwn(ARROWS, key))
    return `\x1b${hasCursorKeys ? "O" : "["}${ARROWS[key as keyof typeof ARROWS]}`;
  const control = /^C-(.)$/.exec(key)?.[1];
  if (control !== undefined)
    return String.fromCharCode(control.toUpperCase().charCodeAt(0) & CONTROL_MASK);
  if ([...key].length !== 1) throw new Error(`no key is called ${key}`);
  return key;
}
