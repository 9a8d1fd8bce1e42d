import { asFault } from "#contract/fault.ts";
import { LOCAL_WORKSPACE } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import type { Health } from "#contract/operations/server.ts";
import type { HostHealth } from "#host/socket/methods.ts";
import type { SessionHosts } from "#session/session-host.ts";
import type { Store } from "#store/store.ts";
import type { Who } from "./caller.ts";

interface HealthDeps {
  readonly store: Store;
  readonly hosts: SessionHosts;
  readonly version: string;
  readonly isStopping: () => boolean;
}

/** Counts and sizes are for callers that see every workspace; without a caller it is only whether the server runs. */
export async function describeHealth(parts: HealthDeps, who: Who | undefined): Promise<Health> {
  const { version, isStopping } = parts;
  if (isStopping()) return { status: "stopping", version };
  if (who === undefined) return { status: "ok", version };
  const store = checkStore(parts.store);
  const host = await parts.hosts.all()[0].health();
  const free = host?.free_disk_bytes ?? null;
  const disk = { ok: free === null || free > limits.disk_free_floor_bytes, free_bytes: free };
  const isWell = store.ok && disk.ok && (host?.log_faults ?? 0) === 0;
  const describe = who.workspaces === "*" ? describeHost : describeHostBriefly;
  return {
    status: isWell ? "ok" : "degraded",
    version,
    store,
    host: host === undefined ? NO_HOST : describe(host),
    disk,
  };
}

const NO_HOST = { ok: true, message: "no host runs; it is started when somebody needs it" };

function describeHost(host: HostHealth): NonNullable<Health["host"]> {
  const { pid, version, uptime_ms, sessions, live, live_cap, memory_bytes, errors, log_faults } =
    host;
  return {
    ok: log_faults === 0,
    ...(log_faults === 0 ? {} : { message: describeLogFaults(log_faults) }),
    ...{ pid, version, uptime_ms, sessions, live, live_cap, memory_bytes, errors, log_faults },
  };
}

/** Without counts: they are of all workspaces, and this is for callers that see some of them. */
function describeHostBriefly(host: HostHealth): NonNullable<Health["host"]> {
  const { pid, version, uptime_ms, live_cap, log_faults } = host;
  const message = "the logs of some sessions cannot be written";
  return {
    ok: log_faults === 0,
    ...(log_faults === 0 ? {} : { message }),
    ...{ pid, version, uptime_ms, live_cap },
  };
}

function describeLogFaults(count: number): string {
  if (count === 1) return "the log of 1 session cannot be written";
  return `the logs of ${count} sessions cannot be written`;
}

function checkStore(store: Store): { ok: boolean; message?: string } {
  try {
    store.workspaces.find(LOCAL_WORKSPACE);
    return { ok: true };
  } catch (error) {
    return { ok: false, message: asFault(error).message };
  }
}
