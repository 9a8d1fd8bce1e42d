import { join } from "node:path";
import type { ShellDeps } from "#app/shell/claim.ts";
import { createShellOperations, type ShellOperations } from "#app/shell/shell.ts";
import { systemClock } from "#base/clock.ts";
import { silentLogger } from "#base/logger.ts";
import type { OperationInput, StreamItem } from "#contract/operations.ts";
import type { ShellEvent } from "#contract/shell.ts";
import type { SessionHosts } from "#session/session-host.ts";
import { openStore } from "#store/store.ts";
import { anyPlaces, type CallerParts, createTestCaller } from "./caller.ts";
import { openTestHost, type TestHost } from "./host.ts";

type Exit = Extract<ShellEvent, { readonly type: "exit" }>;

/** What a run came to. */
export interface Ran {
  readonly session_id: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: Buffer;
  readonly exit: Exit;
  readonly items: readonly StreamItem<ShellEvent>[];
}

export interface TestShells extends AsyncDisposable {
  readonly host: TestHost;
  readonly deps: ShellDeps;
  readonly operations: ShellOperations;
  as(caller: CallerParts): ShellOperations;
  create(input?: OperationInput<"shell.create">): Promise<string>;
  run(shellId: string, command: string, options?: { readonly timeout_ms?: number }): Promise<Ran>;
}

/** A real host, a real store and the operations of shells on them. */
export async function openTestShells(): Promise<TestShells> {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await openTestHost());
  const deps = stack.use(openShellDeps(host.dataDir, host.hosts));
  const as = (caller: CallerParts) => createShellOperations(deps, createTestCaller(caller));
  const operations = as({});
  const owned = stack.move();
  return {
    host,
    deps,
    operations,
    as,
    create: async (input = {}) => (await operations["shell.create"](input)).shell_id,
    run: async (shell_id, command, options = {}) =>
      await collect(await operations["shell.run"]({ shell_id, command, ...options })),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** What a gateway on that data directory would have. */
export function openShellDeps(dataDir: string, hosts: SessionHosts): ShellDeps & Disposable {
  const store = openStore({ path: join(dataDir, "reins.db"), clock: systemClock });
  return {
    hosts,
    store: store.shells,
    places: anyPlaces,
    folder: join(dataDir, "shells"),
    log: silentLogger,
    clock: systemClock,
    [Symbol.dispose]: () => store[Symbol.dispose](),
  };
}

export async function collect(stream: AsyncIterable<StreamItem<ShellEvent>>): Promise<Ran> {
  const items: StreamItem<ShellEvent>[] = [];
  for await (const item of stream) items.push(item);
  const bytesOf = (type: "stdout" | "stderr") =>
    Buffer.concat(
      items.map(({ data }) =>
        data.type === type ? Buffer.from(data.data, data.encoding) : Buffer.alloc(0),
      ),
    );
  const [first] = items;
  const last = items.at(-1);
  if (first?.data.type !== "run" || last?.data.type !== "exit")
    throw new Error(`a run begins and ends: ${JSON.stringify(items)}`);
  const stdoutBytes = bytesOf("stdout");
  return {
    session_id: first.data.session_id,
    stdout: stdoutBytes.toString("utf8"),
    stderr: bytesOf("stderr").toString("utf8"),
    stdoutBytes,
    exit: last.data,
    items,
  };
}
