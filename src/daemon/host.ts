import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { systemClock } from "#base/clock.ts";
import { type Logger, openFileLogger } from "#base/logger.ts";
import { asFault, Fault, toFaultBody } from "#contract/fault.ts";
import { faults } from "#contract/faults.ts";
import { limits } from "#contract/limits.ts";
import { defined } from "#contract/values/defined.ts";
import { freeDiskBytes, openDescriptors, sessionCap } from "#host/capacity.ts";
import { type DataDir, openDataDir } from "#host/data-dir.ts";
import { openSecrets, removeStaleSecrets } from "#host/secrets.ts";
import { type HandOver, parseHandOver, removeHandOver } from "#host/session/hand-over.ts";
import { Sessions } from "#host/sessions/sessions.ts";
import type { HostHealth } from "#host/socket/methods.ts";
import { type HostServer, openHostServer } from "#host/socket/server.ts";
import type { ReadyLine } from "#host/socket/start-host.ts";
import {
  describeInherited,
  type Handed,
  openLockAndHandOver,
  passedMs,
} from "#host/upgrade/take-over.ts";
import { createUpgrade } from "#host/upgrade/upgrade.ts";
import { ownVersions, type ProgramVersions } from "#host/upgrade/versions.ts";
import { type LogIo, nodeIo } from "#log/log-io.ts";
import { isMemoryGuarded } from "#proc/platform/guard-memory.ts";
import { openSpawner, tryPlatform } from "#proc/platform/open-spawner.ts";
import type { OpenSpawner } from "#proc/spawner.ts";
import { rememberFile, watchFile } from "./data-dir-watch.ts";
import { goBack } from "./go-back.ts";
import { IdleExit } from "./idle-exit.ts";

interface HostOptions {
  readonly dataDir: string;
  readonly version: string;
  /** Override for tests and measurements. */
  readonly cgroups?: boolean;
  /** How this program was started, for another one that takes over; without it none can. */
  readonly started?: {
    readonly command: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  };
}

const KEEP_ALIVE_MS = 60 * 60 * 1000;

/** Errors that no code expected: counted and told, never fatal to the other sessions. */
class ErrorCount {
  count = 0;
  last: string | null = null;

  add(error: unknown): void {
    this.count += 1;
    this.last = error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

/** The host process: says on stdout whether it is ready, then serves until it is told to stop or has nothing to do. */
export async function runHost(options: HostOptions): Promise<number> {
  try {
    await using host = await openHostDaemon(options);
    sayReady({ ready: true, pid: process.pid });
    if ((await host.stopped) === "removed") {
      await host.endSessions(REMOVED);
      // Without closing the socket: that would remove its name, which may be another host's by now.
      process.exit(faults.host_unavailable.exit);
    }
    return 0;
  } catch (error) {
    const fault = asFault(error);
    sayReady({ error: toFaultBody(fault) });
    return faults[fault.code].exit;
  }
}

/** What this program can read, once it is known that it could be a host here. */
export async function describeProgram(dataDir: string, version: string): Promise<ProgramVersions> {
  openDataDir(dataDir);
  await tryPlatform();
  return ownVersions(version);
}

type Stop = "asked" | "removed";

const REMOVED = "the data directory was removed, so its host has ended";

interface HostDaemon extends AsyncDisposable {
  /** Resolves when the host should end: on request, or because its data directory is gone. */
  readonly stopped: Promise<Stop>;
  /** With a reason for those who are attached. */
  endSessions(why: string): Promise<void>;
}

async function openHostDaemon(options: HostOptions): Promise<HostDaemon> {
  await using stack = new AsyncDisposableStack();
  // Until the server listens nothing else would keep the process from ending.
  stack.adopt(
    setInterval(() => undefined, KEEP_ALIVE_MS),
    clearInterval,
  );
  const dir = openDataDir(options.dataDir);
  const { lock, handed } = await openLockAndHandOver(dir);
  stack.use(lock);
  const log = stack.use(openFileLogger(dir.hostLog, systemClock.now));
  const errors = new ErrorCount();
  stack.use(containErrors(errors, log));
  const stopped = Promise.withResolvers<Stop>();
  const stop = () => stopped.resolve("asked");
  // Children depend on us already: a TERM that comes now must not end us before we can end them in order.
  using _early = handed === undefined ? undefined : listenForStop(stop);
  const onError = (error: unknown) => contain(errors, log, error);
  const opened = await openHostSpawner(options, handed, { dir, log, onError });
  const { handOver } = opened;
  const spawner = stack.use(opened.spawner);
  const cap = sessionCap();
  const shared = { folder: dir.sessions, clock: systemClock, log, spawner };
  const logIo = createOwnIo(rememberFile(dir.lock));
  const secrets = openSecrets(dir.secrets);
  const sessions = new Sessions({ ...shared, live_cap: cap, logIo, secrets });
  if (handOver !== undefined) {
    sessions.adopt(handOver.sessions, passedMs(handOver));
    removeHandOver(dir.path);
  }
  await sessions.recover();
  removeStaleSecrets(dir.secrets, dir.sessions);
  const idle = stack.use(openIdleExit(sessions, stop));
  const { version } = options;
  const upgrade = prepareUpgrade(options, {
    ...{ clock: systemClock, log, sessions, spawner, version, dataPath: dir.path },
    server: () => server,
  });
  const isGuarded = await isMemoryGuarded();
  const healthy = { sessions, errors, version, cap, dataPath: dir.path, isGuarded };
  const server: HostServer = stack.use(
    await openHostServer(dir.socket, {
      ...{ sessions, secrets, log, version },
      health: createHealth(healthy, () => server),
      shutdown: stop,
      upgrade,
      onConnections: (connections) => idle.update({ connections }),
      inherited: handOver && {
        server: handOver.server,
        outcome: describeOutcome(handOver, version, sessions.live),
      },
    }),
  );
  stack.defer(() => rmSync(dir.socket, { force: true }));
  // Before the server goes, so that clients still hear how their sessions ended.
  stack.defer(() => sessions.shutdown());
  stack.use(listenForStop(stop));
  stack.use(watchRemoval(dir, { sessions, log }, () => stopped.resolve("removed")));
  log.info("host started", { pid: process.pid, version, from: handOver?.from_version });
  stack.defer(() => log.info("host stopped", { pid: process.pid }));
  const owned = stack.move();
  return {
    stopped: stopped.promise,
    endSessions: (why) => sessions.shutdown(why),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function openIdleExit(sessions: Sessions, expired: () => void): IdleExit {
  const idle = new IdleExit({ clock: systemClock, ms: limits.host_idle_ms, expired });
  const update = () => idle.update({ live: sessions.live });
  sessions.changes.on(update);
  update();
  return idle;
}

/**
 * Logs that were removed are made again, but not together with a data directory that was removed or is another host's
 * by now. Every file of a log begins with its folder.
 */
function createOwnIo(isOurs: () => boolean): LogIo {
  return {
    ...nodeIo,
    mkdirSync: (path, options) => {
      if (!isOurs()) throw Object.assign(new Error(`ENOENT: ${REMOVED}`), { code: "ENOENT" });
      return nodeIo.mkdirSync(path, options);
    },
  };
}

function watchRemoval(
  dir: DataDir,
  { sessions, log }: { readonly sessions: Sessions; readonly log: Logger },
  removed: () => void,
): Disposable {
  return watchFile(dir.lock, systemClock, () => {
    log.error(REMOVED, { data_dir: dir.path, live: sessions.live });
    removed();
  });
}

interface Opening {
  readonly dir: DataDir;
  readonly log: Logger;
  readonly onError: (error: unknown) => void;
}

/** With what the program before us left. When that cannot be understood, the one that wrote it gets its place back. */
async function openHostSpawner(
  { cgroups }: HostOptions,
  handed: Handed | undefined,
  { dir, log, onError }: Opening,
): Promise<{ readonly spawner: OpenSpawner; readonly handOver: HandOver | undefined }> {
  const choice = defined({ cgroups });
  const open = (handOver?: HandOver) =>
    openSpawner({
      clock: systemClock,
      isHost: true,
      onError,
      ...choice,
      inherited: handOver && describeInherited(handOver),
    });
  if (handed === undefined) return { spawner: await open(), handOver: undefined };
  try {
    const handOver = parseHandOver(handed.content);
    const spawner = await open(handOver);
    if (spawner.succession === undefined)
      throw new Fault("unsupported", "this program cannot go on with another's children");
    spawner.succession.claim(handOver.descriptors);
    return { spawner, handOver };
  } catch (error) {
    log.error("what was handed over cannot be taken over", { error });
    goBack(dir.path, handed);
    return { spawner: await open(), handOver: undefined };
  }
}

function prepareUpgrade(
  { started }: HostOptions,
  deps: Omit<Parameters<typeof createUpgrade>[0], "command" | "env">,
): (command: readonly string[]) => Promise<never> {
  if (started !== undefined) return createUpgrade({ ...deps, ...started });
  return () =>
    Promise.reject(
      new Fault("unsupported", "this host is part of a program that cannot be replaced"),
    );
}

function describeOutcome(handOver: HandOver, version: string, live: number) {
  if (handOver.is_returned)
    return new Fault(
      "unsupported",
      `the other program could not go on with what this host had, so reins ${version} has come back; see the host's log`,
    );
  return { pid: process.pid, version, from_version: handOver.from_version, live };
}

interface Healthy {
  readonly sessions: Sessions;
  readonly errors: ErrorCount;
  readonly version: string;
  readonly cap: number;
  readonly dataPath: string;
  readonly isGuarded: boolean;
}

function createHealth(
  { sessions, errors, version, cap, dataPath, isGuarded }: Healthy,
  server: () => HostServer,
): () => HostHealth {
  const startedAt = systemClock.monotonic();
  return () => ({
    ...describeProcess(dataPath),
    ...describeSessions(sessions),
    version,
    uptime_ms: Math.round(systemClock.monotonic() - startedAt),
    live_cap: cap,
    memory_guarded: isGuarded,
    connections: server().connections,
    errors: errors.count,
    last_error: errors.last,
  });
}

function describeProcess(dataPath: string) {
  return {
    pid: process.pid,
    descriptors: openDescriptors() ?? null,
    memory_bytes: process.memoryUsage.rss(),
    free_disk_bytes: freeDiskBytes(dataPath) ?? null,
  };
}

function describeSessions(sessions: Sessions) {
  const all = sessions.all();
  return {
    sessions: all.length,
    live: sessions.live,
    unreadable: sessions.unreadable,
    log_faults: all.filter((session) => session.logFault !== undefined).length,
  };
}

/** TERM ends everything in order. HUP and INT are for the terminal that started us, which we have left. */
function listenForStop(stop: () => void): Disposable {
  const ignore = () => undefined;
  process.on("SIGTERM", stop);
  process.on("SIGHUP", ignore);
  process.on("SIGINT", ignore);
  return {
    [Symbol.dispose]: () => {
      process.off("SIGTERM", stop);
      process.off("SIGHUP", ignore);
      process.off("SIGINT", ignore);
    },
  };
}

/** A thousand terminals must not die of a mistake in one place. */
function containErrors(errors: ErrorCount, log: Logger): Disposable {
  const onError = (error: unknown) => contain(errors, log, error);
  process.on("uncaughtException", onError);
  process.on("unhandledRejection", onError);
  return {
    [Symbol.dispose]: () => {
      process.off("uncaughtException", onError);
      process.off("unhandledRejection", onError);
    },
  };
}

function contain(errors: ErrorCount, log: Logger, error: unknown): void {
  errors.add(error);
  log.error("an error was contained", { error });
}

/** Then lets go of the starter's pipe; nothing else is ever printed. */
function sayReady(line: ReadyLine): void {
  const STDOUT = 1;
  try {
    writeSync(STDOUT, `${JSON.stringify(line)}\n`);
    closeSync(STDOUT);
    // Takes the lowest free number, so that no later file becomes our stdout.
    openSync("/dev/null", "w");
  } catch {
    // The starter has gone; the host is there all the same.
  }
}
