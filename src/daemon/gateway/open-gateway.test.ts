import { expect, test } from "vitest";
import { silentLogger } from "#base/logger.ts";
import { ManualClock } from "#base/manual-clock.ts";
import { Fault } from "#contract/fault.ts";
import { type HandledName, operations as table } from "#contract/operations.ts";
import type { SessionHost, SessionHosts } from "#session/session-host.ts";
import { openTestStore } from "#store/testing/test-store.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { openGateway } from "./open-gateway.ts";

const session_id = "ses_0000000000000000";
const yaml = JSON.stringify({ agents: { root: { model: "scripted/echo" } } });
const ids = { session_id, process_id: session_id, shell_id: "shl_0000000000000000" };
const inputs: Partial<Record<HandledName, object>> = {
  "session.create": { kind: "terminal", work_dir: "/" },
  "session.glances": { session_ids: [session_id] },
  "session.input": { ...ids, data: "x" },
  "session.wait": { ...ids, for: "exit", timeout_ms: 0 },
  "process.input": { ...ids, text: "x" },
  "process.execute": { command: "true", workdir: "/" },
  "agent.create": { source: { kind: "inline", yaml }, working_dir: "/" },
  "team.load": { source: { kind: "inline", yaml } },
};
/** The store or a directory of this machine answers before a host is asked. */
const WITHOUT_HOST: readonly string[] = [
  ...["shell.create", "shell.get", "shell.close", "shell.run"],
  ...["team.load", "team.list", "directory.list"],
];

/** Hosts that answer nothing, and the ways in which they were asked for. */
function createAbsentHosts() {
  const ways = new Set<string>();
  const away = async () => {
    throw new Fault("host_unavailable", "away");
  };
  const host = {
    ...{ state: "unreachable", followed: 0, connect: away, call: away, open: away, attach: away },
    health: async () => undefined,
    find: () => undefined,
    watchAll: () => ({ [Symbol.dispose]: () => undefined }),
  } as unknown as SessionHost;
  const note = (way: string) => {
    ways.add(way);
    return host;
  };
  const hosts: SessionHosts = {
    of: () => note("of"),
    place: () => note("place"),
    all: () => [note("all")],
  };
  return { hosts, ways };
}

function wayOf(name: HandledName): string[] {
  const { runs, http } = table[name];
  if (runs === "gateway" || WITHOUT_HOST.includes(name)) return [];
  // The owners of those sessions, each by its id.
  if (name === "session.glances") return ["of"];
  if (runs === "every-host") return ["all"];
  return http.includes(":session_id") || http.includes(":process_id") || name === "agent.run"
    ? ["of"]
    : ["place"];
}

test("every operation asks for the host that its row says", async () => {
  using test = openTestStore();
  const { hosts, ways } = createAbsentHosts();
  const { where, ...who } = createTestCaller();
  await using gateway = openGateway({
    ...{ store: test.store, hosts, where, clock: new ManualClock(), log: silentLogger },
    ...{ dataDir: test.folder, sessionsFolder: test.folder, version: "test", shell: undefined },
    ...{ taskIdleMs: 0, defaultWaitMs: 0, command: ["true"], keyEnv: {} },
    isStopping: () => false,
    teams: { folder: test.folder, named: {}, roots: [] },
  });
  const operations = Object.entries(gateway.operations(who));
  const asked: Record<string, readonly string[]> = {};
  for (const [name, run] of operations) {
    ways.clear();
    const input = inputs[name as HandledName] ?? ids;
    // Handlers refuse what they do not find; only the way is looked at.
    await Promise.resolve((run as (given: object) => Promise<unknown>)(input)).catch(
      () => undefined,
    );
    asked[name] = [...ways];
  }
  const expected = operations.map(([name]) => [name, wayOf(name as HandledName)]);
  expect(asked).toEqual(Object.fromEntries(expected));
});
