import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { followOutput } from "#app/follow-output.ts";
import { createSessionOperations, type SessionOperations } from "#app/session.ts";
import type { Session } from "#contract/session.ts";
import { locateDataDir } from "#host/data-dir.ts";
import type { HostClient } from "#host/socket/client.ts";
import { connectHost } from "#host/socket/connect-host.ts";
import type { HostCreate } from "#host/socket/methods.ts";
import { joinHost } from "#host/socket/start-host.ts";
import type { LogChunk } from "#log/log-source.ts";
import { createLocalHosts } from "#session/local-host.ts";
import type { SessionHost, SessionHosts } from "#session/session-host.ts";
import { anyPlaces, callerEnvironment, createTestCaller } from "./caller.ts";
import { waitFor } from "./eventually.ts";
import { binPath } from "./packaged.ts";
import { isAlive } from "./processes.ts";
import { openTempDir } from "./temp-dir.ts";

export interface TestHost extends AsyncDisposable {
  readonly client: HostClient;
  readonly hosts: SessionHosts;
  readonly pid: number;
  readonly dataDir: string;
  readonly sessions: string;
  readonly operations: SessionOperations;
  create(request: Partial<HostCreate>): Promise<Session>;
  /** All output until the session has exited. */
  output(sessionId: string): Promise<Output>;
  kill(signal: NodeJS.Signals): Promise<void>;
}

export interface Output {
  readonly text: string;
  readonly bytes: Buffer;
  readonly chunks: readonly LogChunk[];
}

export interface HostSetting {
  readonly dataDir?: string;
  readonly nodeArgs?: readonly string[];
  /** A program that the host is started through, for its limits. */
  readonly through?: readonly string[];
}

/** A real host process on a data directory of its own; stopped with everything that it runs. */
export async function openTestHost(setting: HostSetting = {}): Promise<TestHost> {
  await using stack = new AsyncDisposableStack();
  const dataDir = setting.dataDir ?? join(stack.use(openTempDir()).path, "home");
  const argv = [
    ...(setting.through ?? []),
    process.execPath,
    ...(setting.nodeArgs ?? []),
    binPath,
    "host",
    "--data-dir",
    dataDir,
  ];
  const [program = "", ...args] = argv;
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"], cwd: "/" });
  const exited = once(child, "exit");
  stack.defer(async () => {
    child.kill("SIGTERM");
    await exited;
    // A host that another process started here would write into a directory that is about to be removed.
    if (setting.dataDir === undefined) await endHostOf(dataDir);
  });
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), "line"),
    exited.then(() => ["the host ended"]),
  ])) as [string];
  const ready: { readonly ready?: boolean } = JSON.parse(line);
  if (ready.ready !== true) throw new Error(`the host did not start: ${line}`);
  const dir = locateDataDir(dataDir);
  const client = stack.use(await connectHost(dir.socket));
  const hosts = createLocalHosts(client, dir.sessions);
  const owned = stack.move();
  return {
    client,
    hosts,
    pid: client.hello.pid,
    dataDir,
    sessions: dir.sessions,
    operations: createSessionOperations({ hosts, places: anyPlaces }, createTestCaller()),
    create: (request) => createSession(client, request),
    output: (sessionId) => readToExit(hosts.of(sessionId), sessionId),
    async kill(signal) {
      child.kill(signal);
      await exited;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Ends the host of a data directory, if there is one, and waits for its end. */
export async function endHostOf(dataDir: string): Promise<void> {
  using host = await joinHost(dataDir);
  if (host === undefined) return;
  await host.call("host.shutdown", {});
  await host.closed;
  await waitFor("the host to have gone", () => !isAlive(host.hello.pid));
}

function createSession(client: HostClient, request: Partial<HostCreate>): Promise<Session> {
  return client.call("session.create", {
    kind: "command",
    work_dir: "/",
    env: callerEnvironment(),
    ...request,
  });
}

async function readToExit(host: SessionHost, sessionId: string): Promise<Output> {
  using handle = await host.open(sessionId);
  const chunks: LogChunk[] = [];
  for await (const chunk of followOutput(handle, { since: 0, until: "exit" })) chunks.push(chunk);
  const bytes = Buffer.concat(
    chunks.map((chunk) => (chunk.kind === "bytes" ? chunk.bytes : new Uint8Array())),
  );
  return { chunks, bytes, text: bytes.toString("utf8") };
}
