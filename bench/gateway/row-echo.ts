import { interleave, median, pairedRatios, percentile } from "#bench/lib/statistics.ts";
import type { Row, RowOptions } from "#bench/row.ts";
import { openBare } from "./bare.ts";
import { timeKeys } from "./keys.ts";
import { openTempGateway, type TempGateway } from "./temp-gateway.ts";
import type { Wire } from "./viewer.ts";

const KEYS = 500;
const argv = ["cat"];

/** From a key to its echo, one key at a time, as the terminal's own line discipline echoes it. */
export async function measureEcho({ runs }: RowOptions): Promise<Row[]> {
  await using bare = await openBare();
  await using gateway = await openTempGateway();
  const all: Record<string, number[]> = { bare: [], binary: [], text: [] };
  const measureBare = async () => {
    using viewer = await bare.terminal(argv);
    return keep("bare", await timeKeys(viewer, KEYS));
  };
  const keep = (name: string, times: readonly number[]) => {
    all[name]?.push(...times);
    return median(times);
  };
  const measures = {
    bare: measureBare,
    binary: async () => keep("binary", await typeThrough(gateway, "binary")),
    text: async () => keep("text", await typeThrough(gateway, "text")),
  };
  await interleave(1, measures);
  for (const times of Object.values(all)) times.length = 0;
  const middles = await interleave(runs, measures);
  const say = (name: string) => {
    const times = all[name] ?? [];
    return `p50 ${percentile(times, 0.5).toFixed(2)}, p99 ${percentile(times, 0.99).toFixed(2)} ms`;
  };
  return (["binary", "text"] as const).map((wire) => ({
    what: `echo of a key through gateway and host, ${wire} frames`,
    measured: say(wire),
    against: `bare node-pty + ws: ${say("bare")}`,
    ratio: median(pairedRatios(middles[wire], middles.bare)),
    ...(wire === "binary" ? { target: { at_most: 2 } } : {}),
  }));
}

async function typeThrough(gateway: TempGateway, wire: Wire): Promise<number[]> {
  const sessionId = await gateway.create({ kind: "terminal", argv });
  using viewer = await gateway.attach(sessionId, { wire, query: "since=0&role=controller" });
  const times = await timeKeys(viewer, KEYS);
  await gateway.remove(sessionId);
  return times;
}
