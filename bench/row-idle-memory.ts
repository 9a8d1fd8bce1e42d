import { setTimeout as sleep } from "node:timers/promises";
import { countDescriptors, countThreads, readMemory } from "./lib/process-facts.ts";
import { median } from "./lib/statistics.ts";
import { openTempHost, type TempHost } from "./lib/temp-host.ts";
import type { Row, RowOptions } from "./row.ts";

const SESSIONS = 1000;
const WARM_UP = 20;
const WIDTH = 8;
/** What the start of the last one has left to do is done by then. */
const SETTLE_MS = 2000;

/** Host memory for each idle terminal. The child is `sleep infinity`: no shell, so only the host is measured. */
export async function measureIdleMemory({ runs }: RowOptions): Promise<Row[]> {
  const found: IdleCost[] = [];
  for (let run = 0; run < runs; run += 1) found.push(await measureOnce());
  const of = (name: keyof IdleCost) => median(found.map((cost) => cost[name]));
  const each = of("pss_kib");
  return [
    {
      what: `host memory, ${SESSIONS} idle terminals (\`sleep infinity\`)`,
      measured: `${each.toFixed(1)} KiB each (PSS; RSS ${of("rss_kib").toFixed(1)}; ${of("descriptors").toFixed(1)} descriptors, ${of("threads").toFixed(3)} threads)`,
      against: `a host that has run ${WARM_UP}: ${(of("empty_kib") / 1024).toFixed(1)} MiB`,
      judged: each,
      target: { at_most: 80, unit: "KiB" },
    },
  ];
}

/** All of one terminal but the last, which is the host's own. */
interface IdleCost {
  readonly pss_kib: number;
  readonly rss_kib: number;
  readonly descriptors: number;
  readonly threads: number;
  readonly empty_kib: number;
}

async function measureOnce(): Promise<IdleCost> {
  await using host = await openTempHost();
  await openTerminals(host, WARM_UP);
  await closeAll(host);
  const before = await look(host.pid);
  await openTerminals(host, SESSIONS);
  const after = await look(host.pid);
  const each = (name: keyof typeof after) => (after[name] - before[name]) / SESSIONS;
  return {
    pss_kib: each("pss_kib"),
    rss_kib: each("rss_kib"),
    descriptors: each("descriptors"),
    threads: each("threads"),
    empty_kib: before.pss_kib,
  };
}

async function look(pid: number) {
  await sleep(SETTLE_MS);
  return {
    ...readMemory(pid),
    descriptors: countDescriptors(pid),
    threads: countThreads(pid),
  };
}

async function openTerminals(host: TempHost, count: number): Promise<void> {
  let left = count;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await host.create({ kind: "terminal", argv: ["sleep", "infinity"] });
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, worker));
}

async function closeAll(host: TempHost): Promise<void> {
  const { sessions } = await host.client.call("session.list", { state: "live", limit: 1000 });
  await Promise.all(
    sessions.map(({ session_id }) => host.client.call("session.close", { session_id })),
  );
}
