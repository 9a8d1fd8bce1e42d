import { setTimeout as sleep } from "node:timers/promises";
import { median, percentile } from "#bench/lib/statistics.ts";
import type { Row, RowOptions } from "#bench/row.ts";
import {
  type AgentGateway,
  type BenchAgent,
  findWorker,
  openAgentGateway,
} from "./agent-gateway.ts";
import { repeatingTeam } from "./teams.ts";

const MESSAGES_PER_RUN = 15;
const FEWEST_MESSAGES = 50;
const FEWEST_REVIVALS = 10;
const POLL_MS = 10;
const END_MS = 10_000;

/** A message over HTTP to the first event of its turn at the client: to a worker that is there, and to one that has gone. */
export async function measureAgentFirstEvent({ runs }: RowOptions): Promise<Row[]> {
  await using place = await openAgentGateway();
  const agent = await place.createAgent(repeatingTeam({ deltas: ["Yes."] }));
  const times = { warm: [] as number[], cold: [] as number[], get: [] as number[] };
  await timeFirstEvent(agent);
  for (let sent = 0; sent < Math.max(FEWEST_MESSAGES, runs * MESSAGES_PER_RUN); sent += 1) {
    times.get.push(await timeGet(place, agent));
    times.warm.push(await timeFirstEvent(agent));
  }
  for (let revival = 0; revival < Math.max(FEWEST_REVIVALS, runs); revival += 1) {
    await endWorker(place, agent);
    times.cold.push(await timeFirstEvent(agent));
  }
  const against = `\`session.get\`: ${say(times.get)}`;
  return [
    {
      what: `agent: message to first event over HTTP, worker there (${times.warm.length} messages)`,
      measured: say(times.warm),
      against,
      ratio: median(times.warm) / median(times.get),
    },
    {
      what: `agent: the same, worker gone and brought back (${times.cold.length} times)`,
      measured: say(times.cold),
      against,
    },
  ];
}

function say(times: readonly number[]): string {
  return `p50 ${median(times).toFixed(1)}, p99 ${percentile(times, 0.99).toFixed(1)} ms`;
}

/** The whole turn is read, so that the next message finds it ended. */
async function timeFirstEvent({ runtime }: BenchAgent): Promise<number> {
  const started = performance.now();
  let first: number | undefined;
  for await (const _event of runtime.run([{ content: "Is it so?" }])) first ??= performance.now();
  if (first === undefined) throw new Error("the turn had no event");
  return first - started;
}

async function timeGet({ client }: AgentGateway, { session_id }: BenchAgent): Promise<number> {
  const started = performance.now();
  await client.call("session.get", { session_id });
  return performance.now() - started;
}

/** As one ends that has been idle for long: by itself, with 0. */
async function endWorker(place: AgentGateway, agent: BenchAgent): Promise<void> {
  process.kill(await findWorker(place, agent), "SIGTERM");
  const { session_id } = agent;
  const until = performance.now() + END_MS;
  while (performance.now() < until) {
    const { state } = await place.client.call("session.get", { session_id });
    if (state.kind === "exited") return;
    await sleep(POLL_MS);
  }
  throw new Error("the worker does not end");
}
