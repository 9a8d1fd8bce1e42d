// Reins with a wall clock that can be set while it runs: the first word names the file that says by how much, in ms.
// What measures durations stays as it is, as when somebody sets the clock of a machine.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const POLL_MS = 150;

export async function runShifted(clockFile: string): Promise<void> {
  const RealDate = Date;
  let shift = 0;
  const look = () => {
    try {
      shift = Number(readFileSync(clockFile, "utf8")) || 0;
    } catch {
      // The run is over, or no descriptor is left: the clock stays as it was.
    }
  };
  look();
  setInterval(look, POLL_MS).unref();
  const now = () => RealDate.now() + shift;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, words, self) =>
      Reflect.construct(target, words.length === 0 ? [now()] : words, self),
    get: (target, name, self) => (name === "now" ? now : Reflect.get(target, name, self)),
  });
  await import(fileURLToPath(new URL("../../bin/reins", import.meta.url)));
}
