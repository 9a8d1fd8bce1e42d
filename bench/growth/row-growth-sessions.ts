import { setTimeout as sleep } from "node:timers/promises";
import { openTempGateway, type TempGateway } from "#bench/gateway/temp-gateway.ts";
import { readMemory } from "#bench/lib/process-facts.ts";
import { median } from "#bench/lib/statistics.ts";
import { type Row, type RowOptions, scaled } from "#bench/row.ts";
import { type Client, createClient } from "#client/client.ts";

const COUNTS = [1, 10, 100, 1000];
/** Timed one by one when all the others are there. */
const TIMED = 10;
const LISTS = 10;
const LIST_LIMIT = 100;
const AT_ONCE = 8;
const SETTLE_MS = 1000;
const MIB_KIB = 1024;

interface Step {
  readonly count: number;
  readonly create_ms: number;
  readonly list_ms: number;
  readonly host_mib: number;
  readonly gateway_mib: number;
}

/** More and more idle terminals in one host; once, whatever `--runs` says, because each step adds to the last one. */
export async function measureGrowthSessions(options: RowOptions): Promise<Row[]> {
  await using gateway = await openTempGateway();
  const client = createClient({ url: gateway.url, token: gateway.token });
  const counts = [...new Set(COUNTS.map((count) => scaled(count, options)))];
  await createIdle(gateway);
  await client.call("session.list", { limit: LIST_LIMIT });
  const steps: Step[] = [];
  let live = 1;
  for (const count of counts) {
    await createMany(gateway, count - live);
    live = Math.max(live, count);
    const step = await look(gateway, client, count);
    live += TIMED;
    steps.push(step);
  }
  const [first] = steps;
  return steps.map((step) => describe(step, first ?? step));
}

async function look(gateway: TempGateway, client: Client, count: number): Promise<Step> {
  await sleep(SETTLE_MS);
  const host_mib = readMemory(gateway.host.pid).pss_kib / MIB_KIB;
  const gateway_mib = readMemory(gateway.pid).pss_kib / MIB_KIB;
  const list_ms = await middleOf(LISTS, () => client.call("session.list", { limit: LIST_LIMIT }));
  const create_ms = await middleOf(TIMED, () => createIdle(gateway));
  return { count, create_ms, list_ms, host_mib, gateway_mib };
}

function describe(step: Step, first: Step): Row {
  const { count, create_ms, list_ms, host_mib, gateway_mib } = step;
  const point = (plot: "sessions-time" | "sessions-memory", series: string, y: number) => ({
    ...{ plot, series, x: count, y },
  });
  const say = (one: Step) =>
    `create ${one.create_ms.toFixed(1)} ms, list of ${LIST_LIMIT} ${one.list_ms.toFixed(1)} ms, host ${one.host_mib.toFixed(0)}, gateway ${one.gateway_mib.toFixed(0)} MiB`;
  return {
    what: `growth: ${count} live terminals`,
    measured: say(step),
    against: `${first.count}: ${say(first)}`,
    ratio: create_ms / first.create_ms,
    points: [
      point("sessions-time", "create", create_ms),
      point("sessions-time", `list of ${LIST_LIMIT}`, list_ms),
      point("sessions-memory", "host", host_mib),
      point("sessions-memory", "gateway", gateway_mib),
    ],
  };
}

async function middleOf(times: number, run: () => Promise<unknown>): Promise<number> {
  const found: number[] = [];
  for (let done = 0; done < times; done += 1) {
    const started = performance.now();
    await run();
    found.push(performance.now() - started);
  }
  return median(found);
}

function createIdle(gateway: TempGateway): Promise<string> {
  return gateway.create({ kind: "terminal", argv: ["sleep", "infinity"] });
}

async function createMany(gateway: TempGateway, count: number): Promise<void> {
  let left = count;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await createIdle(gateway);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
