import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Session } from "#contract/session.ts";
import { type DataDir, locateDataDir } from "#host/data-dir.ts";
import type { HostClient } from "#host/socket/client.ts";
import type { HostCreate } from "#host/socket/methods.ts";
import { openHost } from "#host/socket/start-host.ts";
import { owned } from "./owned.ts";
import { SessionEnds } from "./session-ends.ts";
import { openTempDir } from "./temp-dir.ts";

export interface TempHost extends AsyncDisposable {
  readonly client: HostClient;
  readonly pid: number;
  readonly dir: DataDir;
  /** How sessions end, heard without watching what they print. */
  readonly ends: SessionEnds;
  create(request: SessionRequest): Promise<Session>;
}

export type SessionRequest = Pick<HostCreate, "kind"> & Partial<HostCreate>;

export interface TempHostOptions {
  /** How to run `reins`: program and leading arguments. */
  readonly command?: readonly string[];
  /** False: as on a machine where none can be made. */
  readonly cgroups?: boolean;
}

export const reinsPath = fileURLToPath(new URL("../../bin/reins", import.meta.url));

const withoutCgroups = fileURLToPath(new URL("./host-without-cgroups.ts", import.meta.url));

const STOP_MS = 30_000;
const POLL_MS = 20;

/** A host of its own, as `reins` starts it: another process, on a data directory that is removed at the end. */
export async function openTempHost(options: TempHostOptions = {}): Promise<TempHost> {
  await using stack = new AsyncDisposableStack();
  const dir = locateDataDir(stack.use(openTempDir()).path);
  const program = options.cgroups === false ? withoutCgroups : reinsPath;
  const { command = [process.execPath, program] } = options;
  const opening = openHost({ dataDir: dir.path, command, env: process.env });
  stack.use(ownProcess(opening));
  const client = await opening;
  const ends = new SessionEnds();
  await client.watchAll((sessionId, session) => ends.hear(sessionId, session));
  const resources = stack.move();
  return {
    client,
    pid: client.hello.pid,
    dir,
    ends,
    create: (request) =>
      client.call("session.create", { work_dir: "/", env: childEnvironment(), ...request }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function childEnvironment(): Record<string, string> {
  const { PATH = "/usr/local/bin:/usr/bin:/bin", HOME = "/" } = process.env;
  return { PATH, HOME, LANG: "C.UTF-8" };
}

/** Asked first, so that it ends its sessions; whoever does not listen is killed. Also one that is still starting. */
function ownProcess(opening: Promise<HostClient>): AsyncDisposable {
  return owned(async () => {
    const client = await opening.catch(() => undefined);
    if (client === undefined) return;
    const { pid } = client.hello;
    await client.call("host.shutdown", {}).catch(() => signal(pid, "SIGTERM"));
    client[Symbol.dispose]();
    const until = performance.now() + STOP_MS;
    while (isRunning(pid) && performance.now() < until) await sleep(POLL_MS);
    if (isRunning(pid)) signal(pid, "SIGKILL");
  });
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended by itself.
  }
}

function isRunning(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return !/^\) [ZX]/.test(stat.slice(stat.lastIndexOf(")")));
}
