import type { Wiring } from "./bursts.ts";
import { countDescriptors, countThreads, readMemory } from "./process-facts.ts";
import type { TempHost } from "./temp-host.ts";

export interface Held {
  readonly descriptors: number;
  readonly threads: number;
  readonly rss_kib: number;
}

export interface Spawns {
  readonly before: Held;
  readonly after: Held;
  readonly seconds: number;
  readonly wrong: readonly string[];
}

/** Starts and ends so many children, one kind after the other in turn, and looks what the host still holds. */
export async function runManySpawns(
  host: TempHost,
  { spawns, width = 8 }: { readonly spawns: number; readonly width?: number },
): Promise<Spawns> {
  const wrong: string[] = [];
  const run = async (serial: number) => {
    const kind: Wiring = serial % 2 === 0 ? "terminal" : "command";
    const { session_id } = await host.create({ kind, argv: ["true"] });
    const { state } = await host.ends.wait(session_id, "final");
    if (state.kind !== "exited" || state.exit_code !== 0) wrong.push(JSON.stringify(state));
  };
  // What every host opens once is open after the first few.
  for (let serial = 0; serial < width; serial += 1) await run(serial);
  const before = look(host.pid);
  const started = performance.now();
  let left = spawns;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await run(left);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return {
    before,
    after: look(host.pid),
    seconds: (performance.now() - started) / 1000,
    wrong,
  };
}

function look(pid: number): Held {
  return {
    descriptors: countDescriptors(pid),
    threads: countThreads(pid),
    rss_kib: readMemory(pid).rss_kib,
  };
}
