import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { findSpawnRefusal } from "#base/spawn-refusal.ts";
import { asFault, Fault, type FaultBody, fromFaultBody } from "#contract/fault.ts";
import { type DataDir, openDataDir, unusable } from "#host/data-dir.ts";
import { type BoundEnvironment, findBinding } from "#host/find-binding.ts";
import { isHandingOver } from "#host/hand-over-file.ts";
import { allowedForHost } from "#proc/environment.ts";
import type { HostClient } from "./client.ts";
import { connectHost } from "./connect-host.ts";

export interface StartOptions {
  readonly dataDir: string;
  /** How to run `reins host`: program and leading arguments. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The first line that a host prints: it listens, or why it does not. */
export type ReadyLine =
  | { readonly ready: true; readonly pid: number }
  | { readonly error: FaultBody };

const START_LIMIT_MS = 20_000;
const RETRY_MS = 20;
/** How long a host is waited for that another start has begun, before it is tried once more. */
const HELD_MS = 1000;

/** The host of this data directory, started if none answers. */
export async function openHost(options: StartOptions): Promise<HostClient> {
  const dir = openDataDir(options.dataDir);
  const until = performance.now() + START_LIMIT_MS;
  for (;;) {
    const running = await findHost(dir, options.env);
    if (running !== undefined) return running;
    const ready = await startHost(dir, options);
    const isHeld = "error" in ready && ready.error.code === "conflict";
    if ("error" in ready && !isHeld) throw fromFaultBody(ready.error);
    // Somebody else's start may have won the race, and its host will answer in a moment. Or who has the lock is ending:
    // then another has to be started.
    const host = await connectSoon(dir, options.env, isHeld ? HELD_MS : START_LIMIT_MS);
    if (host !== undefined) return host;
    if (performance.now() > until)
      throw notStarted(dir, "another one holds the lock and does not answer");
  }
}

/** The host of this data directory if one runs, for what needs none otherwise. */
export async function joinHost(
  dataDir: string,
  env: BoundEnvironment = {},
): Promise<HostClient | undefined> {
  return await findHost(openDataDir(dataDir), env);
}

/**
 * Undefined when no host answers. By the environment the connection is a session's; without one it is the user's. A host
 * that is about to end still accepts and says nothing: then it is asked again until it has gone.
 */
export async function findHost(
  dir: DataDir,
  env: BoundEnvironment = {},
): Promise<HostClient | undefined> {
  const until = performance.now() + START_LIMIT_MS;
  // A program that takes the host's process over says hello once it has started.
  const isBusy = () => isHandingOver(dir.path) && performance.now() < until;
  for (;;) {
    try {
      return await connectHost(dir.socket, { isBusy, findBinding: () => findBinding(dir, env) });
    } catch (error) {
      const errno = error instanceof Fault ? error.details.errno : undefined;
      if (errno === "ENOENT" || errno === "ECONNREFUSED") return undefined;
      if (errno !== "ECONNRESET" || performance.now() > until) throw error;
      await delay(RETRY_MS);
    }
  }
}

/**
 * Starts a host that belongs to nobody: in a session of its own, with no terminal, a scrubbed environment, and not
 * as our child (the shell that forks it is gone at once), so that neither the end of this process nor of a session
 * around it reaches it.
 */
async function startHost(dir: DataDir, { command, env }: StartOptions): Promise<ReadyLine> {
  const log = openLog(dir);
  const child = spawn(
    "/bin/sh",
    ["-c", '"$0" "$@" &', ...command, "host", "--data-dir", dir.path],
    {
      cwd: "/",
      detached: true,
      env: allowedForHost(env),
      stdio: ["ignore", "pipe", log],
    },
  );
  closeSync(log);
  const refusal = findSpawnRefusal(child);
  if (refusal !== undefined) throw asFault(await refusal);
  const { stdout } = child;
  if (stdout === null) throw notStarted(dir, "it has no stdout");
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const limit = setTimeout(
    () => reject(notStarted(dir, "it did not answer in time")),
    START_LIMIT_MS,
  );
  let text = "";
  stdout.setEncoding("utf8");
  stdout.on("data", (chunk: string) => {
    text += chunk;
    if (text.includes("\n")) resolve(text);
  });
  stdout.on("end", () => reject(notStarted(dir, "it ended before it was ready")));
  child.on("error", (error) => reject(notStarted(dir, error.message)));
  try {
    return parseReadyLine(await promise, dir);
  } finally {
    clearTimeout(limit);
    stdout.destroy();
    child.unref();
  }
}

function openLog(dir: DataDir): number {
  try {
    return openSync(dir.hostLog, "a", 0o600);
  } catch (error) {
    throw unusable(dir.path, error);
  }
}

function parseReadyLine(text: string, dir: DataDir): ReadyLine {
  try {
    // Our own host's words.
    return JSON.parse(text.slice(0, text.indexOf("\n"))) as ReadyLine;
  } catch (error) {
    throw notStarted(dir, "it does not speak as a host does", error);
  }
}

async function connectSoon(
  dir: DataDir,
  env: BoundEnvironment,
  limitMs: number,
): Promise<HostClient | undefined> {
  const until = performance.now() + limitMs;
  for (;;) {
    const host = await findHost(dir, env);
    if (host !== undefined || performance.now() > until) return host;
    await delay(RETRY_MS);
  }
}

function notStarted(dir: DataDir, why: string, cause?: unknown): Fault {
  return new Fault(
    "host_unavailable",
    `the host could not be started: ${why}; see ${dir.hostLog}`,
    {
      details: { data_dir: dir.path, log: dir.hostLog },
      cause,
    },
  );
}
