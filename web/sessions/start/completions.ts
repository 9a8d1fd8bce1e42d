/** What the server found for something typed. */
interface Found {
  readonly path: string;
  readonly names: readonly string[];
}

/** Shown at a time; who has more types more of the name. */
const COMPLETIONS_SHOWN = 50;

/** The ways on, written as the beginning was: `~/x` stays below `~`. Each ends with a slash, so that it can go on. */
export function completeDirectory(typed: string, { path, names }: Found): string[] {
  const start = startOf(typed, path);
  return names.slice(0, COMPLETIONS_SHOWN).map((name) => `${start}${name}/`);
}

function startOf(typed: string, path: string): string {
  if (typed === "") return path === "/" ? "/" : `${path}/`;
  if (typed === "~") return "~/";
  const last = typed.slice(typed.lastIndexOf("/") + 1);
  // Dots alone are a place, and what was found lies in it.
  if (last === "." || last === "..") return `${typed}/`;
  return typed.slice(0, typed.length - last.length);
}

/** The option that a key leads to; -1 is what was typed itself. */
export function moveOption(key: string, at: number, count: number): number | undefined {
  if (count === 0) return undefined;
  if (key === "ArrowDown") return at + 1 >= count ? -1 : at + 1;
  if (key === "ArrowUp") return at < 0 ? count - 1 : at - 1;
  return undefined;
}
