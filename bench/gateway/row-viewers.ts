import { setTimeout as sleep } from "node:timers/promises";
import { median, pairedRatios } from "#bench/lib/statistics.ts";
import type { Row, RowOptions } from "#bench/row.ts";
import { readCpuSeconds } from "./cpu-time.ts";
import { timeKeys } from "./keys.ts";
import { openRawViewers, type RawViewers } from "./raw-viewers.ts";
import { openTempGateway, type TempGateway } from "./temp-gateway.ts";
import type { Viewer } from "./viewer.ts";

const counts = [1, 10, 50, 200, 500];
/** The one that is judged. */
const JUDGED = 200;
const BURST_BYTES = 20_000;
const BURST_MS = 20;
const MB = 1e6;
const SETTLE_MS = 100;
const KEYS = 50;
/** Nobody types while the gateway's time is taken: a key costs more than what it prints. */
const COST_MS = 1000;
/** Keys go on at least so long, however fast they are echoed. */
const ECHO_MS = 500;

const producer = `setInterval(() => process.stdout.write(Buffer.alloc(${BURST_BYTES}, 120)), ${BURST_MS})`;

/** Of all runs together: the kernel counts in hundredths of a second. */
interface Found {
  cpuSeconds: number;
  bytes: number;
  readonly echo: number[];
}

/** A session that prints at a fixed rate with more and more viewers, and a key typed in another one meanwhile. */
export async function measureViewers({ runs }: RowOptions): Promise<Row[]> {
  await using gateway = await openTempGateway();
  await using viewers = await openRawViewers(gateway);
  const quiet = await gateway.create({ kind: "terminal", argv: ["cat"] });
  using typist = await gateway.attach(quiet, { query: "since=0&role=controller" });
  const busy = await gateway.create({ kind: "terminal", argv: [process.execPath, "-e", producer] });
  const found = new Map(counts.map((count) => [count, emptyFound()]));
  const alone: number[] = [];
  await timeKeys(typist, KEYS);
  for (let run = 0; run < runs; run += 1) {
    alone.push(await timeEcho(typist));
    for (const count of counts) {
      await viewers.open(busy, count);
      await sleep(SETTLE_MS);
      await look(gateway, viewers, { typist, into: found.get(count) ?? emptyFound() });
      await viewers.close();
      await sleep(SETTLE_MS);
    }
  }
  return counts.map((count) => describe(count, found, alone));
}

function emptyFound(): Found {
  return { cpuSeconds: 0, bytes: 0, echo: [] };
}

async function look(
  gateway: TempGateway,
  viewers: RawViewers,
  { typist, into }: { readonly typist: Viewer; readonly into: Found },
): Promise<void> {
  const before = await viewers.look();
  const cpu = readCpuSeconds(gateway.pid);
  await sleep(COST_MS);
  into.cpuSeconds += readCpuSeconds(gateway.pid) - cpu;
  into.bytes += (await viewers.look()).bytes - before.bytes;
  into.echo.push(await timeEcho(typist));
}

/** The middle one; keys until the window is over, so that the line of the terminal is emptied on the way. */
async function timeEcho(typist: Viewer): Promise<number> {
  const until = performance.now() + ECHO_MS;
  const times: number[] = [];
  while (performance.now() < until) {
    times.push(...(await timeKeys(typist, KEYS)));
    // The line feed is echoed as two bytes, then `cat` prints the line and again two.
    const emptied = typist.until(typist.received + KEYS + 4);
    typist.type("\n");
    await emptied;
    await sleep(BURST_MS);
  }
  return median(times);
}

function describe(count: number, found: ReadonlyMap<number, Found>, alone: readonly number[]): Row {
  const { echo, bytes } = found.get(count) ?? emptyFound();
  const cost = costOf(found.get(count));
  const one = costOf(found.get(1));
  const speed = bytes / echo.length / (COST_MS / 1000) / MB;
  return {
    what: `${count} viewers of a session that prints ${BURST_BYTES / BURST_MS / 1000} MB/s`,
    measured: `gateway CPU ${cost.toFixed(2)} ns a byte at ${speed.toFixed(1)} MB/s; echo elsewhere p50 ${median(echo).toFixed(2)} ms`,
    against: `1 viewer: ${one.toFixed(2)} ns a byte (${(cost / one).toFixed(2)} x); echo with nobody: p50 ${median(alone).toFixed(2)} ms`,
    ratio: median(pairedRatios(echo, alone)),
    points: [
      { plot: "viewers-cost", series: "gateway", x: count, y: cost },
      { plot: "viewers-echo", series: "echo, p50", x: count, y: median(echo) },
    ],
    ...(count === JUDGED ? { target: { at_most: 2 } } : {}),
  };
}

/** Nanoseconds of the gateway for each byte that arrived. */
function costOf({ cpuSeconds, bytes } = emptyFound()): number {
  return (cpuSeconds / bytes) * 1e9;
}
