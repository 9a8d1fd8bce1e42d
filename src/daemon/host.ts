import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { systemClock } from "#base/clock.ts";
import { type Logger, openFileLogger } from "#base/logger.ts";
import { asFault, toFaultBody } from "#contract/fault.ts";
import { faults } from "#contract/faults.ts";
import { limits } from "#contract/limits.ts";
import { freeDiskBytes, openDescriptors, sessionCap } from "#host/capacity.ts";
import { openDataDir } from "#host/data-dir.ts";
import { openLock } from "#host/lock.ts";
import { Sessions } from "#host/sessions.ts";
import type { HostHealth } from "#host/socket/methods.ts";
import { openHostServer } from "#host/socket/server.ts";
import type { ReadyLine } from "#host/start-host.ts";
import { openSpawner } from "#proc/spawner.ts";
import { IdleExit } from "./idle-exit.ts";

export interface HostOptions {
  readonly dataDir: string;
  readonly version: string;
  /** Overrides for tests and measurements. */
  readonly idleMs?: number;
  readonly cgroups?: boolean;
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
    await host.stopped;
    return 0;
  } catch (error) {
    const fault = asFault(error);
    sayReady({ error: toFaultBody(fault) });
    return faults[fault.code].exit;
  }
}

export interface HostDaemon extends AsyncDisposable {
  /** Resolves when the host should end. */
  readonly stopped: Promise<void>;
}

export async function openHostDaemon(options: HostOptions): Promise<HostDaemon> {
  await using stack = new AsyncDisposableStack();
  // Until the server listens nothing else would keep the process from ending.
  stack.adopt(
    setInterval(() => undefined, KEEP_ALIVE_MS),
    clearInterval,
  );
  const dir = openDataDir(options.dataDir);
  stack.use(openLock(dir.lock));
  const log = stack.use(openFileLogger(dir.hostLog, systemClock.now));
  const errors = new ErrorCount();
  stack.use(containErrors(errors, log));
  const stopped = Promise.withResolvers<void>();
  const spawner = stack.use(await openHostSpawner(options, (error) => contain(errors, log, error)));
  const cap = sessionCap();
  const sessions = new Sessions({
    folder: dir.sessions,
    clock: systemClock,
    log,
    spawner,
    live_cap: cap,
  });
  await sessions.recover();
  const idle = stack.use(
    new IdleExit({
      clock: systemClock,
      ms: options.idleMs ?? limits.host_idle_ms,
      expired: stopped.resolve,
    }),
  );
  sessions.changes.on(() => idle.update({ live: sessions.live }));
  const startedAt = systemClock.monotonic();
  const health = (): HostHealth => ({
    ...describeProcess(dir.path),
    ...describeSessions(sessions),
    version: options.version,
    uptime_ms: Math.round(systemClock.monotonic() - startedAt),
    live_cap: cap,
    connections: server.connections,
    errors: errors.count,
    last_error: errors.last,
  });
  const server = stack.use(
    await openHostServer(dir.socket, {
      sessions,
      log,
      version: options.version,
      health,
      shutdown: stopped.resolve,
      onConnections: (connections) => idle.update({ connections }),
    }),
  );
  stack.defer(() => rmSync(dir.socket, { force: true }));
  // Before the server goes, so that clients still hear how their sessions ended.
  stack.defer(() => sessions.shutdown());
  stack.use(listenForStop(stopped.resolve));
  log.info("host started", { pid: process.pid, version: options.version });
  stack.defer(() => log.info("host stopped", { pid: process.pid }));
  const owned = stack.move();
  return { stopped: stopped.promise, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function openHostSpawner({ cgroups }: HostOptions, onError: (error: unknown) => void) {
  const choice = cgroups === undefined ? {} : { cgroups };
  return openSpawner({ clock: systemClock, isHost: true, onError, ...choice });
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
