import type { Health } from "#contract/operations/server.ts";
import type { Session } from "#contract/session.ts";
import type { Tone } from "#web/ui/badge.tsx";
import { formatBytes, formatDuration } from "#web/ui/format.ts";

interface SessionCounts {
  readonly running: number;
  readonly ended: number;
  readonly agents: number;
  readonly terminals: number;
  readonly commands: number;
}

/** What runs is counted by kind; what has ended only as such. */
export function countSessions(sessions: Iterable<Pick<Session, "state" | "kind">>): SessionCounts {
  const counts = { running: 0, ended: 0, agents: 0, terminals: 0, commands: 0 };
  for (const { state, kind } of sessions) {
    if (state.kind === "exited" || state.kind === "lost") {
      counts.ended += 1;
      continue;
    }
    counts.running += 1;
    counts[`${kind}s`] += 1;
  }
  return counts;
}

/** A bound by the unit that its name ends with. */
export function formatLimit(name: string, value: number): string {
  if (name.endsWith("_bytes")) return formatBytes(value);
  if (name.endsWith("_ms")) return value < 1000 ? `${value} ms` : formatDuration(value);
  return value.toLocaleString("en");
}

/** Its unit is in the value. */
export function nameLimit(name: string): string {
  return name.replace(/_(?:bytes|ms)$/, "").replaceAll("_", " ");
}

export const STATUS_WORDS: Readonly<Record<Health["status"], { tone: Tone; text: string }>> = {
  ok: { tone: "good", text: "all is well" },
  degraded: { tone: "warn", text: "something is wrong" },
  stopping: { tone: "warn", text: "stopping" },
};

export interface Fact {
  readonly name: string;
  readonly value: string;
}

export function listHostFacts(host: NonNullable<Health["host"]>): readonly Fact[] {
  const { pid, version, uptime_ms, live, live_cap, memory_bytes, errors, log_faults } = host;
  const facts: readonly (readonly [string, string | number | undefined])[] = [
    ["Version", version],
    ["Process", pid],
    ["Up for", uptime_ms === undefined ? undefined : formatDuration(uptime_ms)],
    ["Memory", memory_bytes === undefined ? undefined : formatBytes(memory_bytes)],
    ["Live sessions", live_cap === undefined ? live : `${live ?? "?"} of ${live_cap}`],
    ["Errors", errors],
    ["Logs with a fault", log_faults],
  ];
  return facts.flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value: String(value) }],
  );
}
