import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { median, percentile } from "#bench/lib/statistics.ts";
import type { Row, RowOptions } from "#bench/row.ts";
import { openTempGateway, type TempGateway } from "./temp-gateway.ts";
import type { Viewer } from "./viewer.ts";

const RETRY_MS = 5;
const OPENS_PER_RUN = 5;
const ticker = ["/bin/sh", "-c", "while :; do echo tick; sleep 0.005; done"];
const program = "/bin/echo";

/** How long a client goes without, when the gateway dies and comes back; and how long the first byte takes. */
export async function measureReattach({ runs }: RowOptions): Promise<Row[]> {
  await using gateway = await openTempGateway();
  const times = {
    first: [] as number[],
    bare: [] as number[],
    reattach: [] as number[],
    start: [] as number[],
  };
  await createToFirstByte(gateway);
  for (let open = 0; open < runs * OPENS_PER_RUN; open += 1) {
    times.bare.push(await spawnBare());
    times.first.push(await createToFirstByte(gateway));
  }
  const sessionId = await gateway.create({ kind: "terminal", argv: ticker });
  for (let run = 0; run < runs; run += 1) {
    const { reattach, start } = await reattachOnce(gateway, sessionId);
    times.reattach.push(reattach);
    times.start.push(start);
  }
  const say = (list: readonly number[]) =>
    `p50 ${percentile(list, 0.5).toFixed(2)}, p99 ${percentile(list, 0.99).toFixed(2)} ms`;
  return [
    {
      what: "create to first byte over HTTP and WebSocket (`echo`, terminal)",
      measured: say(times.first),
      against: `bare spawn on pipes: ${say(times.bare)}`,
      ratio: median(times.first) / median(times.bare),
    },
    {
      what: "reattach: `kill -9` of the gateway to the next byte at its client",
      measured: `${median(times.reattach).toFixed(0)} ms`,
      against: `of it until the next gateway listens: ${median(times.start).toFixed(0)} ms`,
    },
  ];
}

async function createToFirstByte(gateway: TempGateway): Promise<number> {
  const started = performance.now();
  const sessionId = await gateway.create({ kind: "terminal", argv: [program, "x"] });
  using viewer = await gateway.attach(sessionId);
  const time = (await viewer.until(1)) - started;
  await gateway.remove(sessionId);
  return time;
}

async function spawnBare(): Promise<number> {
  const started = performance.now();
  const child = spawn(program, ["x"], { stdio: ["ignore", "pipe", "ignore"] });
  const closed = once(child, "close");
  await once(child.stdout, "data");
  const time = performance.now() - started;
  await closed;
  return time;
}

async function reattachOnce(gateway: TempGateway, sessionId: string) {
  const before = await gateway.attach(sessionId, { query: "since=tail" });
  await before.until(1);
  const { received } = before;
  before[Symbol.dispose]();
  const started = performance.now();
  const restarted = gateway.restart().then(() => performance.now());
  using after = await attachAgain(gateway, sessionId, received);
  const reattach = (await after.until(received + 1)) - started;
  return { reattach, start: (await restarted) - started };
}

/** As a client does that has lost its server. */
async function attachAgain(
  gateway: TempGateway,
  sessionId: string,
  since: number,
): Promise<Viewer> {
  for (;;) {
    try {
      return await gateway.attach(sessionId, { query: `since=${since}` });
    } catch {
      await sleep(RETRY_MS);
    }
  }
}
