import { Emulator } from "./emulator.ts";
import type { Charset } from "./emulator-core.ts";

/** All that the emulator knows; what each maps is asked of it, not written down here once more. */
const designators = ["0", "A", "4", "C", "5", "R", "Q", "K", "Y", "E", "6", "Z", "H", "7", "="];

let known: ReadonlyMap<string, string> | undefined;

/** The character that selects a charset; undefined for the usual one. */
export function findDesignator(charset: Charset | undefined): string | undefined {
  if (charset === undefined) return undefined;
  known ??= listKnown();
  return known.get(JSON.stringify(charset));
}

function listKnown(): Map<string, string> {
  using emulator = new Emulator({ size: { cols: 2, rows: 1 }, convertEol: false });
  const found = new Map<string, string>();
  for (const designator of designators.toReversed()) {
    emulator.write(`\x1b(${designator}`);
    const { charset } = emulator.core._charsetService;
    if (charset !== undefined) found.set(JSON.stringify(charset), designator);
  }
  return found;
}
