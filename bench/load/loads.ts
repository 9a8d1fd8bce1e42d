import type { AgentGateway, BenchAgent } from "#bench/agent/agent-gateway.ts";
import { numberedPieces, repeatingTeam } from "#bench/agent/teams.ts";
import { openRawViewers } from "#bench/gateway/raw-viewers.ts";
import { openExecutor } from "#bench/process/executor.ts";

/** A load that is on from `start` until its `stop`; one that ends by itself says when. */
export interface Load {
  readonly what: string;
  readonly full: number;
  /** Without `--full`: what a machine that others use can bear. */
  readonly bounded: number;
  start(place: AgentGateway, size: number): Promise<RunningLoad>;
}

export interface RunningLoad {
  readonly done?: Promise<unknown>;
  stop(): Promise<void>;
}

const AT_ONCE = 8;
const AGENTS_AT_ONCE = 4;
const BURST_BYTES = 20_000;
const BURST_MS = 20;
const DELTAS_PER_SECOND = 20;
const SPEAK_SECONDS = 10;
const MB = 1e6;

export const loads: Readonly<Record<string, Load>> = {
  terminals: { what: "idle terminals", full: 1000, bounded: 100, start: startTerminals },
  viewers: { what: "viewers of one busy terminal", full: 200, bounded: 50, start: startViewers },
  agents: { what: "agents that speak at once", full: 100, bounded: 10, start: startAgents },
  output: { what: "MB through one command", full: 10_000, bounded: 200, start: startOutput },
  attach: { what: "attach and detach cycles", full: 500, bounded: 50, start: startAttach },
};

async function startTerminals({ gateway }: AgentGateway, size: number): Promise<RunningLoad> {
  const made: string[] = [];
  await inParallel(size, AT_ONCE, async () => {
    made.push(await gateway.create({ kind: "terminal", argv: ["sleep", "infinity"] }));
  });
  return {
    stop: () => inParallel(size, AT_ONCE, () => removeLast(made, (id) => gateway.remove(id))),
  };
}

async function startViewers({ gateway }: AgentGateway, size: number): Promise<RunningLoad> {
  const script = `setInterval(() => process.stdout.write(Buffer.alloc(${BURST_BYTES}, 120)), ${BURST_MS})`;
  const busy = await gateway.create({ kind: "terminal", argv: [process.execPath, "-e", script] });
  const viewers = await openRawViewers(gateway);
  await viewers.open(busy, size);
  const { open } = await viewers.look();
  if (open !== size) throw new Error(`${open} of ${size} viewers are attached`);
  return {
    stop: async () => {
      await viewers[Symbol.asyncDispose]();
      await gateway.remove(busy);
    },
  };
}

async function startAgents(place: AgentGateway, size: number): Promise<RunningLoad> {
  const deltas = numberedPieces(DELTAS_PER_SECOND * SPEAK_SECONDS);
  const team = repeatingTeam({ deltas, every_ms: 1000 / DELTAS_PER_SECOND });
  const agents: BenchAgent[] = [];
  await inParallel(size, AGENTS_AT_ONCE, async () => {
    agents.push(await place.createAgent(team));
  });
  const done = Promise.all(agents.map((agent) => hear(agent, deltas.join(""))));
  const ids = agents.map(({ session_id }) => session_id);
  return {
    done,
    stop: () => inParallel(size, AT_ONCE, () => removeLast(ids, (id) => place.gateway.remove(id))),
  };
}

async function hear({ runtime, session_id }: BenchAgent, expected: string): Promise<void> {
  let heard = "";
  for await (const { data } of runtime.run([{ content: "Speak." }]))
    if (data.type === "message.delta") heard += data.text;
  if (heard !== expected) throw new Error(`${session_id} said something else`);
}

async function startOutput({ gateway }: AgentGateway, size: number): Promise<RunningLoad> {
  const executor = openExecutor(gateway);
  const command = `yes 0123456789abcde | head -c ${size * MB}`;
  const done = executor.execute({ command, timeout: "1h" }).then(({ exit_code, truncated }) => {
    if (exit_code !== 0) throw new Error(`exit code ${exit_code}`);
    if (truncated?.original_bytes !== size * MB)
      throw new Error(`${truncated?.original_bytes} bytes were counted`);
  });
  return { done, stop: async () => executor[Symbol.dispose]() };
}

/** One after the other, each seen to get what the session prints. */
async function startAttach({ gateway }: AgentGateway, size: number): Promise<RunningLoad> {
  const argv = ["/bin/sh", "-c", "echo here; exec sleep infinity"];
  const id = await gateway.create({ kind: "terminal", argv });
  const cycle = async () => {
    using viewer = await gateway.attach(id);
    await viewer.until(1);
  };
  return { done: inParallel(size, 1, cycle), stop: () => gateway.remove(id) };
}

async function removeLast(ids: string[], remove: (id: string) => Promise<void>): Promise<void> {
  const id = ids.pop();
  if (id !== undefined) await remove(id);
}

async function inParallel(count: number, width: number, run: () => Promise<void>): Promise<void> {
  let left = count;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await run();
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
}
