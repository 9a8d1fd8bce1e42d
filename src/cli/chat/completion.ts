import type { Command } from "./slash.ts";

/** Where Tab has come to among the commands that begin as what was typed. */
export interface Menu {
  readonly stem: string;
  /** Which of them was put in; undefined = none yet. */
  readonly at: number | undefined;
}

export type Completed =
  | { readonly kind: "text"; readonly text: string; readonly menu: Menu | undefined }
  | { readonly kind: "refused"; readonly why: string };

/** The beginning of a command, and nothing else on the line. */
export function findStem(text: string): string | undefined {
  return /^\s*\/(\S*)$/.exec(text)?.[1];
}

export function matchCommands(commands: readonly Command[], stem: string): readonly Command[] {
  return commands.filter(({ name }) => name.startsWith(stem.toLowerCase()));
}

/**
 * What Tab makes of a line that begins with a slash; undefined for any other line. The only command that fits is put
 * in, several as far as they agree, and then one after the other.
 */
export function complete(
  text: string,
  commands: readonly Command[],
  menu: Menu | undefined,
): Completed | undefined {
  if (!text.trimStart().startsWith("/")) return undefined;
  const stem = menu?.stem ?? findStem(text);
  if (stem === undefined) return { kind: "refused", why: "Tab completes a command; Enter sends" };
  const matches = matchCommands(commands, stem);
  const [only, ...more] = matches;
  if (only === undefined)
    return { kind: "refused", why: `there is no /${stem}; /help lists what there is` };
  if (more.length === 0) return { kind: "text", text: lineOf(only), menu: undefined };
  const shared = sharedStart(matches.map(({ name }) => name));
  if (menu === undefined && shared.length > stem.length)
    return { kind: "text", text: `/${shared}`, menu: undefined };
  const at = ((menu?.at ?? -1) + 1) % matches.length;
  const next = matches[at] ?? only;
  return { kind: "text", text: `/${next.name}`, menu: { stem, at } };
}

function lineOf({ name, takes }: Command): string {
  return takes === "" ? `/${name}` : `/${name} `;
}

function sharedStart([first = "", ...others]: readonly string[]): string {
  let length = first.length;
  while (!others.every((name) => name.startsWith(first.slice(0, length)))) length -= 1;
  return first.slice(0, length);
}
