import { type BenchAgent, findWorker, openAgentGateway } from "#bench/agent/agent-gateway.ts";
import { repeatingTeam } from "#bench/agent/teams.ts";
import { readMemory } from "#bench/lib/process-facts.ts";
import { median, percentile } from "#bench/lib/statistics.ts";
import { type Row, type RowOptions, scaled } from "#bench/row.ts";

const COUNTS = [1, 10, 100];
const MESSAGES = 20;
const STARTS_AT_ONCE = 4;
const MIB_KIB = 1024;

interface Step {
  readonly count: number;
  readonly worker_mib: number;
  readonly gateway_mib: number;
  readonly first_ms: readonly number[];
}

/** More and more agents that wait, and one that is spoken to; once, whatever `--runs` says. */
export async function measureGrowthAgents(options: RowOptions): Promise<Row[]> {
  await using place = await openAgentGateway();
  const team = repeatingTeam({ deltas: ["Yes."] });
  const agents: BenchAgent[] = [];
  const steps: Step[] = [];
  for (const count of new Set(COUNTS.map((full) => scaled(full, options)))) {
    while (agents.length < count) {
      const more = Math.min(STARTS_AT_ONCE, count - agents.length);
      const made = Array.from({ length: more }, () => place.createAgent(team));
      agents.push(...(await Promise.all(made)));
    }
    const [spoken] = agents;
    if (spoken === undefined) throw new Error("there are no agents");
    await timeFirstEvent(spoken);
    const first_ms: number[] = [];
    for (let sent = 0; sent < MESSAGES; sent += 1) first_ms.push(await timeFirstEvent(spoken));
    const pids = await Promise.all(agents.map((agent) => findWorker(place, agent)));
    const worker_mib = median(pids.map((pid) => readMemory(pid).pss_kib)) / MIB_KIB;
    const gateway_mib = readMemory(place.gateway.pid).pss_kib / MIB_KIB;
    steps.push({ count, worker_mib, gateway_mib, first_ms });
  }
  const [first] = steps;
  return steps.map((step) => describe(step, first ?? step));
}

function describe(step: Step, first: Step): Row {
  const say = ({ worker_mib, gateway_mib, first_ms }: Step) =>
    `first event p50 ${median(first_ms).toFixed(1)}, p99 ${percentile(first_ms, 0.99).toFixed(1)} ms; PSS ${worker_mib.toFixed(0)} MiB a worker, gateway ${gateway_mib.toFixed(0)} MiB`;
  const { count, worker_mib, first_ms } = step;
  return {
    what: `growth: ${count} agents`,
    measured: say(step),
    against: `${first.count}: ${say(first)}`,
    ratio: median(first_ms) / median(first.first_ms),
    points: [
      { plot: "agents-memory", series: "worker", x: count, y: worker_mib },
      { plot: "agents-first-event", series: "p50", x: count, y: median(first_ms) },
    ],
  };
}

/** The whole turn is read, so that the next message finds it ended. */
async function timeFirstEvent({ runtime }: BenchAgent): Promise<number> {
  const started = performance.now();
  let first: number | undefined;
  for await (const _event of runtime.run([{ content: "Is it so?" }])) first ??= performance.now();
  if (first === undefined) throw new Error("the turn had no event");
  return first - started;
}
