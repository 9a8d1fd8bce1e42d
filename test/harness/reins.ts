import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createSessionOperations } from "#app/session.ts";
import type { HostClient } from "#host/socket/client.ts";
import { joinHost } from "#host/socket/start-host.ts";
import { createLocalHosts } from "#session/local-host.ts";
import { anyPlaces, createTestCaller } from "./caller.ts";
import { waitFor } from "./eventually.ts";
import { binPath } from "./packaged.ts";
import { isAlive } from "./processes.ts";
import { openResident, type Resident } from "./resident.ts";
import type { RunResult } from "./run-program.ts";
import { openTempDir } from "./temp-dir.ts";

/** A busy machine takes its time; nothing waits longer than it has to. */
const WAIT_MS = 30_000;
/** More than any test has. */
const LISTED_SESSIONS = 1000;

export interface StartOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Nothing by default: /dev/null. `pipe` leaves it open for the test to write to. */
  readonly input?: string | Buffer | "pipe";
}

/** A `reins` that is running. */
export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly stdout: () => Buffer;
  readonly stderr: () => string;
  readonly ended: Promise<RunResult>;
  /** Waits until stdout holds this text. */
  says(text: string): Promise<void>;
}

/** The installed program with a data directory of its own, whose host ends with the scope. */
export interface Reins extends AsyncDisposable {
  /** A place for the test's own files, which is also where commands run. */
  readonly path: string;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  /** A command to its end. Without input it runs in a process that stays for the next one, see `resident.ts`. */
  run(args: readonly string[], options?: RunSetting): Promise<RunResult>;
  /** A command in a process of its own: for signals, for stdin, and to see that the process ends. */
  start(args: readonly string[], options?: StartOptions): Running;
  /** Starts a session in the background and answers its id. */
  detach(args: readonly string[]): Promise<string>;
  /** As `ps --json` lists them, the ended ones included; asked of the host itself. */
  sessions(): Promise<readonly ListedSession[]>;
  session(id: string): Promise<ListedSession>;
  /** The pid of the host, if one runs. */
  hostPid(): Promise<number | undefined>;
}

export interface RunSetting {
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string | Buffer;
}

export interface ListedSession {
  readonly session_id: string;
  readonly kind: string;
  readonly mode: string;
  readonly title: string;
  readonly pid: number;
  readonly tail: number;
  readonly state: {
    readonly kind: string;
    readonly exit_code?: number;
    readonly signal?: string | null;
    readonly reason?: string;
    readonly detail?: string;
  };
}

export async function openReins(): Promise<Reins> {
  return await openOwnReins();
}

/** A Reins that its pool can look into. */
export interface OwnReins extends Reins {
  /** Pids that belong to the harness and not to the test. */
  readonly residents: () => readonly number[];
}

export async function openOwnReins(): Promise<OwnReins> {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(openTempDir());
  const home = join(path, "home");
  const env = environment(path, home);
  const start: Reins["start"] = (args, options) =>
    startProgram([process.execPath, binPath, ...args], {
      cwd: path,
      ...options,
      env: { ...env, ...options?.env },
    });
  const hostPid = () => findHostPid(home);
  let resident: Resident | undefined;
  const run: Reins["run"] = (args, options = {}) => {
    if (options.input !== undefined) return start(args, options).ended;
    resident ??= openResident(env, path);
    return resident.run(args, { ...env, ...options.env });
  };
  const sessions = async () =>
    (await listSessions(home)) ?? JSON.parse((await run(["ps", "-a", "--json"])).stdout).sessions;
  // Each runs even if one before it fails: the host, the resident, then a look at what is left.
  stack.defer(() => waitForNothing(path, []));
  stack.defer(async () => await resident?.[Symbol.asyncDispose]());
  stack.defer(() => endHost(home, run));
  const owned = stack.move();
  return {
    path,
    home,
    env,
    run,
    start,
    detach: async (args) => succeed(await run(["run", "--detach", ...args])).trim(),
    sessions,
    session: async (id) => find(await sessions(), id),
    hostPid,
    residents: () => (resident === undefined ? [] : [resident.pid]),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Stdout of what must not fail. */
export function succeed({ code, stdout, stderr }: RunResult): string {
  if (code !== 0) throw new Error(`reins ended with ${code}: ${stderr}`);
  return stdout;
}

/** `reins` itself is on the path, so that shells find it, and runs with this Node. */
function environment(path: string, home: string): NodeJS.ProcessEnv {
  const bin = join(path, "bin");
  const user = join(path, "user");
  for (const folder of [bin, user]) mkdirSync(folder);
  writeFileSync(join(bin, "reins"), `#!/bin/sh\nexec '${process.execPath}' '${binPath}' "$@"\n`);
  chmodSync(join(bin, "reins"), 0o755);
  const own = Object.entries(process.env).filter(([name]) => !/^(REINS_|TMUX)/.test(name));
  return {
    ...Object.fromEntries(own),
    // The cache of compiled code stays warm, everything else of the user is left alone.
    XDG_CACHE_HOME: process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"),
    PATH: `${bin}:${process.env.PATH ?? ""}`,
    HOME: user,
    REINS_HOME: home,
    // An ordinary user looks into the processes of its tests; see caller-home.ts.
    REINS_DUMPABLE: "1",
  };
}

function startProgram(argv: readonly string[], options: StartOptions): Running {
  const [program = "", ...args] = argv;
  const { input, env, cwd } = options;
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on("data", (bytes: Buffer) => stdout.push(bytes));
  child.stderr?.on("data", (bytes: Buffer) => stderr.push(bytes));
  // Whoever does not read to the end is no failure of the test.
  child.stdin?.on("error", () => undefined);
  if (input !== undefined && input !== "pipe") child.stdin?.end(input);
  const out = () => Buffer.concat(stdout);
  const err = () => Buffer.concat(stderr).toString();
  const end = async () => {
    const [code, signal] = await once(child, "close");
    return { code, signal, stdout: out().toString(), stderr: err() };
  };
  return {
    child,
    pid: child.pid ?? 0,
    stdout: out,
    stderr: err,
    ended: end(),
    says: async (text) => {
      const what = `${args.slice(1).join(" ")} says ${JSON.stringify(text)}`;
      await waitFor(what, () => out().toString().includes(text), { timeout: WAIT_MS });
    },
  };
}

/** The host that answers here. One that is ending, or was just killed, still takes connections for a moment: none answers then. */
export async function findHostOf(home: string): Promise<HostClient | undefined> {
  return existsSync(join(home, "host.lock")) ? await joinHost(home) : undefined;
}

async function endHost(home: string, run: Reins["run"]): Promise<void> {
  if (!existsSync(join(home, "host.lock"))) return;
  // A host that was killed has left its sessions; the next one ends them.
  if ((await findHostPid(home)) === undefined) succeed(await run(["ps", "-a"]));
  await stopHost(home);
}

/** Waits until no process but these knows of the directory. A search reads all of /proc, so it is repeated rarely. */
export async function waitForNothing(path: string, but: readonly number[]): Promise<void> {
  for (;;) {
    const left = findMarked(path, but);
    if (left.length === 0) return;
    try {
      await waitFor("nothing is left", () => left.every(({ pid }) => !isAlive(pid)));
    } catch (error) {
      const named = left.filter(({ pid }) => isAlive(pid)).map(({ name }) => name);
      throw new Error(`left behind: ${named.join("; ")}`, { cause: error });
    }
  }
}

interface Marked {
  readonly pid: number;
  readonly name: string;
}

function findMarked(mark: string, but: readonly number[]): Marked[] {
  const pids = readdirSync("/proc").filter(
    (name) => /^\d+$/.test(name) && !but.includes(Number(name)),
  );
  const marked = pids.filter((pid) =>
    ["environ", "cmdline"].some((file) => read(`/proc/${pid}/${file}`).includes(mark)),
  );
  return marked.map((pid) => ({
    pid: Number(pid),
    name: `${pid} ${read(`/proc/${pid}/cmdline`).replaceAll("\0", " ")}`,
  }));
}

async function stopHost(home: string): Promise<void> {
  using host = await findHostOf(home);
  if (host === undefined) return;
  const { pid } = host.hello;
  await host.call("host.shutdown", {});
  await waitFor(`the host ${pid} ends`, () => !isAlive(pid));
}

/** Undefined when no host answers: then it takes a command to start one. */
async function listSessions(home: string): Promise<readonly ListedSession[] | undefined> {
  using host = await findHostOf(home);
  if (host === undefined) return undefined;
  const setting = { hosts: createLocalHosts(host, ""), places: anyPlaces };
  const operations = createSessionOperations(setting, createTestCaller());
  const { sessions } = await operations["session.list"]({ limit: LISTED_SESSIONS });
  // Of a session that is not running there is no pid, and no test asks for it.
  return sessions as readonly ListedSession[];
}

async function findHostPid(home: string): Promise<number | undefined> {
  using host = await findHostOf(home);
  return host?.hello.pid;
}

function find(sessions: readonly ListedSession[], id: string): ListedSession {
  const session = sessions.find(({ session_id }) => session_id === id);
  if (session === undefined) throw new Error(`reins ps does not list ${id}`);
  return session;
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // It has ended.
    return "";
  }
}
