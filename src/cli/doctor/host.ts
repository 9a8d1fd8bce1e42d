import { createConnection } from "node:net";
import { messageOf } from "#base/errno.ts";
import type { HostClient } from "#host/socket/client.ts";
import type { HostHealth } from "#host/socket/methods.ts";
import { findHost, openHost } from "#host/socket/start-host.ts";
import { type Finding, failed, fine, note } from "./finding.ts";
import type { World } from "./world.ts";

const NAME = "host";

/** Starts one if none runs, like every command; but not in a data directory that has to be looked at first. */
export async function checkHost(world: World, mayStart: { readonly isDirRight: boolean }) {
  const { dir, patienceMs } = world;
  if (await isSilent(dir.socket, patienceMs))
    return failed(
      NAME,
      "A host runs and does not answer.",
      `Look into ${dir.hostLog}; end the process that holds ${dir.lock}, its sessions end with it.`,
    );
  try {
    using running = await findHost(dir, world.env);
    if (running !== undefined) return await describeHost(running, world);
    if (!mayStart.isDirRight)
      return note(NAME, "No host runs; none is started before the data directory is right.");
    using started = await openHost({
      dataDir: dir.path,
      command: world.command,
      env: world.env,
    });
    return await describeHost(started, world);
  } catch (error) {
    return failed(NAME, `${messageOf(error)}.`, `What it said last is in ${dir.hostLog}.`);
  }
}

async function describeHost(host: HostClient, world: World): Promise<Finding> {
  return describeHealth(await host.call("host.health", {}), world);
}

export function describeHealth(health: HostHealth, { version, dir }: World): Finding {
  const sentence = `The host ${health.version} runs as process ${health.pid}: ${health.live} of at most ${health.live_cap} sessions live.`;
  if (health.log_faults > 0)
    return failed(
      NAME,
      health.log_faults === 1
        ? "The log of 1 session cannot be written."
        : `The logs of ${health.log_faults} sessions cannot be written.`,
      `Make room on the disk; ${dir.hostLog} says more.`,
    );
  if (health.version !== version)
    return note(
      NAME,
      `${sentence} This is Reins ${version}.`,
      "They understand each other; reins host upgrade puts this one in its place, and what runs goes on.",
    );
  return describeTroubles(health, dir.hostLog) ?? fine(NAME, sentence);
}

function describeTroubles(
  { errors, unreadable }: HostHealth,
  hostLog: string,
): Finding | undefined {
  if (errors === 0 && unreadable.length === 0) return undefined;
  return note(
    NAME,
    `The host met ${errors} errors that nobody expected and ${unreadable.length} sessions that cannot be read.`,
    `${hostLog} says more.`,
  );
}

/** A host speaks first. One that was stopped, or hangs, takes the connection and says nothing. */
async function isSilent(path: string, patienceMs: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = createConnection(path);
  const limit = setTimeout(() => resolve(true), patienceMs);
  socket.once("data", () => resolve(false));
  // Nobody is there, or about to go: that is found out again by who connects for good.
  socket.once("error", () => resolve(false));
  socket.once("close", () => resolve(false));
  try {
    return await promise;
  } finally {
    clearTimeout(limit);
    socket.destroy();
  }
}
