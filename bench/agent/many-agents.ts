import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readCpuSeconds } from "#bench/gateway/cpu-time.ts";
import { type MemoryFacts, readMemory } from "#bench/lib/process-facts.ts";
import { lines } from "#log/lines.ts";
import { openLogFiles } from "#log/log-files.ts";
import { readRange } from "#log/read-range.ts";
import {
  type AgentGateway,
  type BenchAgent,
  findWorker,
  openAgentGateway,
} from "./agent-gateway.ts";
import { numberedPieces, repeatingTeam } from "./teams.ts";

export interface ManyAgents {
  readonly agents: number;
  readonly deltas: number;
  readonly every_ms: number;
}

export interface ManyAgentsFacts {
  readonly events: number;
  readonly seconds: number;
  /** Milliseconds that `session.get` took while they ran. */
  readonly others: readonly number[];
  readonly workers: readonly MemoryFacts[];
  readonly gateway: MemoryFacts;
  readonly host: MemoryFacts;
  /** Seconds of processor time of the gateway and the host over the run. */
  readonly cpu: { readonly gateway: number; readonly host: number };
  /** A sentence for each run that lost, doubled or changed an event. */
  readonly wrong: readonly string[];
}

/** Workers are started so many at a time; all of them at once would measure the machine. */
const STARTS_AT_ONCE = 4;
const OTHERS_EVERY_MS = 50;
const CHUNK_BYTES = 256 * 1024;

/** Agents that all speak at once, each heard over HTTP; what was heard is compared with the script and with the logs. */
export async function runManyAgents(options: ManyAgents): Promise<ManyAgentsFacts> {
  await using place = await openAgentGateway();
  const { gateway } = place;
  const agents = await createAll(place, options);
  const [first] = agents;
  if (first === undefined) throw new Error("there are no agents");
  const cpu = () => ({
    gateway: readCpuSeconds(gateway.pid),
    host: readCpuSeconds(gateway.host.pid),
  });
  const before = cpu();
  const started = performance.now();
  const ended = new AbortController();
  const others = askMeanwhile(place, first, ended.signal);
  const heard = await Promise.all(agents.map((agent) => hear(agent)));
  const seconds = (performance.now() - started) / 1000;
  ended.abort();
  const after = cpu();
  const pids = await Promise.all(agents.map((agent) => findWorker(place, agent)));
  const wrong: string[] = [];
  for (const run of heard) wrong.push(...(await compare(gateway.host.dir.sessions, run, options)));
  return {
    events: heard.reduce((sum, { events }) => sum + events.length, 0),
    seconds,
    others: await others,
    workers: pids.map(readMemory),
    gateway: readMemory(gateway.pid),
    host: readMemory(gateway.host.pid),
    cpu: { gateway: after.gateway - before.gateway, host: after.host - before.host },
    wrong,
  };
}

async function createAll(place: AgentGateway, options: ManyAgents): Promise<BenchAgent[]> {
  const { agents: count, every_ms } = options;
  const team = repeatingTeam({ deltas: numberedPieces(options.deltas), every_ms });
  const agents: BenchAgent[] = [];
  while (agents.length < count) {
    const more = Math.min(STARTS_AT_ONCE, count - agents.length);
    const made = Array.from({ length: more }, () => place.createAgent(team));
    agents.push(...(await Promise.all(made)));
  }
  return agents;
}

interface Heard {
  readonly session_id: string;
  readonly events: readonly { readonly id: number; readonly text: string }[];
  /** The pieces of the answer. */
  readonly pieces: readonly string[];
}

async function hear({ runtime, session_id }: BenchAgent): Promise<Heard> {
  const events: { id: number; text: string }[] = [];
  const pieces: string[] = [];
  for await (const { id, data } of runtime.run([{ content: "Speak." }])) {
    events.push({ id: Number(id), text: JSON.stringify(data) });
    if (data.type === "message.delta") pieces.push(data.text);
  }
  return { session_id, events, pieces };
}

/** What somebody else waits for meanwhile. */
async function askMeanwhile(
  { client }: AgentGateway,
  { session_id }: BenchAgent,
  signal: AbortSignal,
): Promise<number[]> {
  const times: number[] = [];
  while (!signal.aborted) {
    const asked = performance.now();
    await client.call("session.get", { session_id });
    times.push(performance.now() - asked);
    await sleep(OTHERS_EVERY_MS);
  }
  return times;
}

/** A run hears its turn from the first event to the last, perhaps with what came just before it. */
async function compare(
  sessions: string,
  { session_id, events, pieces }: Heard,
  { deltas }: ManyAgents,
): Promise<string[]> {
  if (pieces.join("") !== numberedPieces(deltas).join(""))
    return [`${session_id}: what was heard is not what the script says`];
  const logged = await readEvents(join(sessions, session_id, "events"));
  const began = logged.findIndex(({ type }) => type === "turn.started");
  const heardFrom = logged.findIndex(({ id }) => id === events[0]?.id);
  const ended = logged.findIndex(({ type }) => type === "turn.ended");
  const expected = logged.slice(Math.min(began, heardFrom), ended + 1);
  const differs = expected.findIndex(
    ({ id, text }, at) => events[at]?.id !== id || events[at]?.text !== text,
  );
  if (differs === -1 && expected.length === events.length && began !== -1) return [];
  return [`${session_id}: ${events.length} events were heard, ${expected.length} are in the log`];
}

interface LoggedEvent {
  readonly id: number;
  readonly type: unknown;
  readonly text: string;
}

/** Everything but the worker's answers to those who asked it. */
async function readEvents(folder: string): Promise<LoggedEvent[]> {
  using log = openLogFiles(folder);
  const found: LoggedEvent[] = [];
  for await (const line of lines(readRange(log, 0, { to: log.tail(), limit: CHUNK_BYTES })))
    if (line.kind === "line" && line.value.type !== "reply")
      found.push({
        id: line.end_offset,
        type: line.value.type,
        text: JSON.stringify(line.value),
      });
  return found;
}
