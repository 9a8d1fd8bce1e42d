import { median } from "#bench/lib/statistics.ts";
import type { Row, RowOptions } from "#bench/row.ts";
import { type AgentGateway, type BenchAgent, openAgentGateway } from "./agent-gateway.ts";
import { callingTeam } from "./teams.ts";

const EVENTS = 10_000;
const CALLS_PER_TURN = 50;
const MB = 1e6;

/** What a viewer asks for first, of a session with ten thousand events: by a gateway that has never read it, and again. */
export async function measureAgentOpen({ runs }: RowOptions): Promise<Row[]> {
  await using place = await openAgentGateway();
  const agent = await place.createAgent(callingTeam(CALLS_PER_TURN));
  let events = 0;
  while (events < EVENTS)
    for await (const _event of agent.runtime.run([{ content: "Go on." }])) events += 1;
  const times = { cold: [] as number[], warm: [] as number[], other: [] as number[] };
  for (let run = 0; run < runs; run += 1) {
    await place.gateway.restart();
    // The way to the host is made by whoever comes first.
    times.other.push(await timeGet(place, agent));
    times.cold.push(await timeSnapshot(agent));
    times.warm.push(await timeSnapshot(agent));
  }
  const { events_tail, transcript } = await agent.runtime.snapshot();
  const what = `agent: snapshot of ${events} events, ${(events_tail / MB).toFixed(1)} MB of log`;
  const against = `first \`session.get\` of that gateway: ${median(times.other).toFixed(1)} ms`;
  const shown = `${transcript.length} messages`;
  return [
    {
      what: `${what}, never read`,
      measured: `${median(times.cold).toFixed(1)} ms, ${shown}`,
      against,
    },
    { what: `${what}, again`, measured: `${median(times.warm).toFixed(1)} ms, ${shown}`, against },
  ];
}

async function timeSnapshot({ runtime }: BenchAgent): Promise<number> {
  const started = performance.now();
  await runtime.snapshot();
  return performance.now() - started;
}

async function timeGet({ client }: AgentGateway, { session_id }: BenchAgent): Promise<number> {
  const started = performance.now();
  await client.call("session.get", { session_id });
  return performance.now() - started;
}
