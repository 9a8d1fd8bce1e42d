import { type EmbeddedOptions, openEmbeddedAgents } from "#agent/embedded/embedded-operations.ts";
import { systemClock } from "#base/clock.ts";
import { silentLogger } from "#base/logger.ts";
import { createClient } from "#client/client.ts";
import { openRemoteBackend } from "#client/runtime.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { StreamItem } from "#contract/operations.ts";
import { createBackend } from "#contract/runtime/create-backend.ts";
import type { Runtime, RuntimeBackend } from "#contract/runtime/runtime.ts";
import { openOwnClient } from "#daemon/own/own-client.ts";
import { createCallsOf } from "#daemon/own-calls.ts";
import { createTestCaller } from "./caller.ts";
import { openTestGateway } from "./gateway.ts";
import { openTestHost } from "./host.ts";
import { openHostTools } from "./host-tools.ts";
import { openTestMemories } from "./memories.ts";
import { binPath } from "./packaged.ts";
import { openTempDir } from "./temp-dir.ts";

/** Somewhere that agents can be, with the real worker. */
export interface RuntimePlace extends AsyncDisposable {
  readonly backend: RuntimeBackend;
  readonly workDir: string;
}

export const places = {
  embedded: openEmbeddedPlace,
  local: openLocalPlace,
  remote: openRemotePlace,
} as const;

export function openEmbeddedBackend(options: EmbeddedOptions): RuntimeBackend & AsyncDisposable {
  const agents = openEmbeddedAgents(options);
  const backend = createBackend(createCallsOf(agents.operations));
  return { ...backend, [Symbol.asyncDispose]: () => agents[Symbol.asyncDispose]() };
}

export async function openEmbeddedPlace(
  keys: Readonly<Record<string, string>> = {},
): Promise<RuntimePlace> {
  await using stack = new AsyncDisposableStack();
  const { tools, workDir } = stack.use(await openHostTools());
  const memories = stack.use(openTestMemories());
  const backend = stack.use(
    openEmbeddedBackend({
      work_dir: workDir,
      keys,
      ports: {
        clock: systemClock,
        log: silentLogger,
        version: "test",
        tools,
        openMemory: (team) => memories.of(team),
        home: workDir,
        env: { PATH: process.env.PATH ?? "" },
      },
    }),
  );
  return own({ backend, workDir }, stack);
}

export async function openLocalPlace(): Promise<RuntimePlace> {
  await using stack = new AsyncDisposableStack();
  const workDir = stack.use(openTempDir()).path;
  const { dataDir } = stack.use(await openTestHost());
  const client = stack.use(
    await openOwnClient({
      ...{ dataDir, command: [process.execPath, binPath], env: {} },
      caller: createTestCaller({ work_dir: workDir }),
    }),
  );
  const backend = createBackend(client);
  return own({ backend, workDir }, stack);
}

export async function openRemotePlace(): Promise<RuntimePlace> {
  await using stack = new AsyncDisposableStack();
  const workDir = stack.use(openTempDir()).path;
  const { url, token } = stack.use(await openTestGateway());
  const backend = openRemoteBackend(createClient({ url, token }));
  return own({ backend, workDir }, stack);
}

function own(
  place: Omit<RuntimePlace, typeof Symbol.asyncDispose>,
  stack: AsyncDisposableStack,
): RuntimePlace {
  const owned = stack.move();
  return { ...place, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

export const say = (content: string) => [{ content }];

/** A turn from its first to its last event. */
export async function runToEnd(runtime: Runtime, text: string): Promise<AnyEvent[]> {
  return await collect(runtime.run(say(text)));
}

export async function collect(stream: AsyncIterable<StreamItem<AnyEvent>>): Promise<AnyEvent[]> {
  const events: AnyEvent[] = [];
  for await (const { data } of stream) events.push(data);
  return events;
}

export function typesOf(events: readonly AnyEvent[]): string[] {
  return events.map(({ type }) => type);
}

type EventOf<T extends AnyEvent["type"]> = Extract<AnyEvent, { type: T }>;

export function eventsOf<T extends AnyEvent["type"]>(
  events: readonly AnyEvent[],
  type: T,
): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

/** The first event of a type from an offset on. */
export async function nextEvent<T extends AnyEvent["type"]>(
  runtime: Runtime,
  type: T,
  since: number | "tail" = 0,
): Promise<EventOf<T>> {
  const ending = new AbortController();
  try {
    // The type was just compared.
    for await (const { data } of runtime.events({ since, signal: ending.signal }))
      if (data.type === type) return data as EventOf<T>;
  } finally {
    ending.abort();
  }
  throw new Error(`the events ended without ${type}`);
}

/** A team with one agent that plays these steps. */
export function scripted(steps: readonly object[], agent: object = {}, team: object = {}): string {
  return JSON.stringify({
    agents: {
      root: { model: "main", description: "Leads.", instruction: "Lead.", ...agent },
    },
    models: { main: { provider: "scripted", script: steps } },
    ...team,
  });
}

export const inline = (yaml: string) => ({ kind: "inline" as const, yaml });
