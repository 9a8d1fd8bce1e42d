import type { AgentGateway } from "#bench/agent/agent-gateway.ts";
import { timeKeys } from "#bench/gateway/keys.ts";
import type { Viewer } from "#bench/gateway/viewer.ts";
import { countDescriptors, readMemory } from "#bench/lib/process-facts.ts";
import { median, percentile } from "#bench/lib/statistics.ts";
import type { SessionId } from "#contract/ids.ts";

/** What host and gateway hold, and how long somebody else waits, at one time of a load. */
export interface Looked {
  readonly host_mib: number;
  readonly gateway_mib: number;
  readonly host_descriptors: number;
  readonly gateway_descriptors: number;
  readonly get_ms: readonly number[];
  readonly echo_ms: readonly number[];
}

/** Somebody who has nothing to do with the load: a terminal of their own, and a question now and then. */
export interface Bystander extends Disposable {
  look(): Promise<Looked>;
}

const KEYS = 40;
const ASKS = 20;
const WARM_UPS = 2;
const MIB_KIB = 1024;

export async function openBystander({ gateway, client }: AgentGateway): Promise<Bystander> {
  const id = await gateway.create({ kind: "terminal", argv: ["cat"] });
  // Ids are branded where they are made.
  const session_id = id as SessionId;
  const viewer = await gateway.attach(id, { query: "since=0&role=controller" });
  const look = async (): Promise<Looked> => {
    const echo_ms = await typeLine(viewer);
    const get_ms: number[] = [];
    for (let asked = 0; asked < ASKS; asked += 1) {
      const started = performance.now();
      await client.call("session.get", { session_id });
      get_ms.push(performance.now() - started);
    }
    return {
      host_mib: readMemory(gateway.host.pid).rss_kib / MIB_KIB,
      gateway_mib: readMemory(gateway.pid).rss_kib / MIB_KIB,
      host_descriptors: countDescriptors(gateway.host.pid),
      gateway_descriptors: countDescriptors(gateway.pid),
      get_ms,
      echo_ms,
    };
  };
  for (let done = 0; done < WARM_UPS; done += 1) await look();
  return { look, [Symbol.dispose]: () => viewer[Symbol.dispose]() };
}

/** Keys, then the end of the line, so that the terminal's line never fills. */
async function typeLine(viewer: Viewer): Promise<number[]> {
  const times = await timeKeys(viewer, KEYS);
  // The line feed is echoed as two bytes, then `cat` prints the line and again two.
  const emptied = viewer.until(viewer.received + KEYS + 4);
  viewer.type("\n");
  await emptied;
  return times;
}

export const lookHead: readonly string[] = [
  "when",
  "host RSS, MiB",
  "gateway RSS, MiB",
  "host descriptors",
  "gateway descriptors",
  "`session.get` p50 / p99, ms",
  "echo elsewhere p50 / p99, ms",
];

export function sayLooked(when: string, looked: Looked): string[] {
  const times = (found: readonly number[]) =>
    `${median(found).toFixed(1)} / ${percentile(found, 0.99).toFixed(1)}`;
  return [
    when,
    looked.host_mib.toFixed(0),
    looked.gateway_mib.toFixed(0),
    String(looked.host_descriptors),
    String(looked.gateway_descriptors),
    times(looked.get_ms),
    times(looked.echo_ms),
  ];
}

/** The most that was held at any of them, and every time that was taken. */
export function joinLooked(all: readonly Looked[]): Looked {
  const most = (pick: (looked: Looked) => number) => Math.max(...all.map(pick));
  return {
    host_mib: most((looked) => looked.host_mib),
    gateway_mib: most((looked) => looked.gateway_mib),
    host_descriptors: most((looked) => looked.host_descriptors),
    gateway_descriptors: most((looked) => looked.gateway_descriptors),
    get_ms: all.flatMap(({ get_ms }) => get_ms),
    echo_ms: all.flatMap(({ echo_ms }) => echo_ms),
  };
}
