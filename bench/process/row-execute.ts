import { spawn } from "node:child_process";
import { once } from "node:events";
import { openTempGateway } from "#bench/gateway/temp-gateway.ts";
import { interleave, median, pairedRatios } from "#bench/lib/statistics.ts";
import type { Row, RowOptions } from "#bench/row.ts";
import { openExecutor } from "./executor.ts";

const COMMANDS = 60;

/** The shortest command that there is, through HTTP, gateway and host, against a spawn and the wait for its end. */
export async function measureExecute({ runs }: RowOptions): Promise<Row[]> {
  await using gateway = await openTempGateway();
  using executor = openExecutor(gateway);
  const measures = {
    bare: () => middleOf(runBare),
    execute: () => middleOf(() => executor.execute({ command: "true" })),
  };
  await interleave(1, measures);
  const times = await interleave(runs, measures);
  return [
    {
      what: "`execute true` through HTTP",
      measured: `${median(times.execute).toFixed(1)} ms`,
      against: `bare spawn of the same shell and the wait: ${median(times.bare).toFixed(1)} ms`,
      ratio: median(pairedRatios(times.execute, times.bare)),
      target: { at_most: 2 },
    },
  ];
}

async function middleOf(run: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < COMMANDS; count += 1) {
    const started = performance.now();
    await run();
    times.push(performance.now() - started);
  }
  return median(times);
}

async function runBare(): Promise<void> {
  const child = spawn("/bin/bash", ["-c", "true"], { stdio: ["ignore", "pipe", "pipe"] });
  await once(child, "close");
}
