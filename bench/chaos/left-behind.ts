import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { countDescriptors, findCarriers } from "#bench/chaos-world/processes.ts";
import type { World } from "#bench/chaos-world/world.ts";
import { locateDataDir } from "#host/data-dir.ts";
import { findHost } from "#host/socket/start-host.ts";
import { purge } from "./streams.ts";

/** What processes hold when nothing runs. */
export interface Held {
  readonly host: number;
  readonly gateways: readonly number[];
  readonly own: number;
}

/** What a process may hold more than at its start: a log, a pooled connection. */
const SPARE = 4;
const SETTLE_MS = 120_000;
const POLL_MS = 250;
const ASK_MS = 180_000;
/** All that a data directory holds when no session is left. */
const KEPT =
  /^(secrets|format|host\.(lock|log|sock)|gateway\.(json|log)|token|reins\.db(-wal|-shm)?|memory\.db(-wal|-shm)?|sessions|shells|teams|runs)$/;

export async function countHeld(world: World): Promise<Held> {
  const host = await world.findHost();
  return {
    host: host === undefined ? 0 : countDescriptors(host.pid),
    gateways: world.gateways.map((gateway) => countDescriptors(gateway.target()?.pid ?? 0)),
    own: countDescriptors(process.pid),
  };
}

/** With everything up and nothing to do it holds what it held at the start. */
export async function checkHeld(world: World, before: Held): Promise<string[]> {
  const most = (list: readonly number[]) => Math.max(...list);
  const look = async () => {
    const after = await countHeld(world);
    const wrong: string[] = [];
    if (after.host > before.host + SPARE)
      wrong.push(`the host holds ${after.host} descriptors, at first ${before.host}`);
    if (most(after.gateways) > most(before.gateways) + SPARE)
      wrong.push(
        `gateways hold ${after.gateways.join(", ")} descriptors, at first ${before.gateways.join(", ")}`,
      );
    if (after.own > before.own + SPARE)
      wrong.push(`clients hold ${after.own} descriptors, at first ${before.own}`);
    return wrong;
  };
  return await settle(look);
}

/** Closes what is left over: of sessions whose creation was never heard of. */
export async function endSessions(world: World): Promise<string[]> {
  const client = world.client("direct");
  const { sessions } = await world.insist("list", ASK_MS, () =>
    client.call("session.list", { limit: 1000 }),
  );
  const wrong = world.isKept;
  for (const { session_id } of sessions)
    await world.insist(`close ${session_id}`, ASK_MS, async () => {
      // What is wrong is looked at later.
      if (wrong) await client.call("session.close", { session_id });
      else await purge(world, session_id);
    });
  const left = await settle(async () =>
    findCarriers(world.run).map(
      ({ pid, command }) => `process ${pid} still runs: ${command.slice(-120)}`,
    ),
  );
  if (wrong) return left;
  const folder = locateDataDir(world.dataDir).sessions;
  return [...left, ...readdirSync(folder).map((name) => `sessions/${name} is left`)];
}

/** After the end of the gateways: the host goes when it is told to, and nobody is left. */
export async function endHost(world: World): Promise<string[]> {
  const host = await findHost(locateDataDir(world.dataDir));
  await host?.call("host.shutdown", {});
  await host?.closed;
  host?.[Symbol.dispose]();
  const left = await settle(async () =>
    findCarriers(world.dir).map(
      ({ pid, command }) => `process ${pid} still runs: ${command.slice(0, 200)}`,
    ),
  );
  if (world.isKept) return left;
  const names = readdirSync(world.dataDir).filter((name) => !KEPT.test(name));
  const secrets = readdirSync(join(world.dataDir, "secrets")).filter((name) => name !== "user");
  const gone = ["gateway.json", "host.sock"].filter((name) =>
    existsSync(join(world.dataDir, name)),
  );
  return [
    ...left,
    ...names.map((name) => `${name} is left in the data directory`),
    ...secrets.map((name) => `secrets/${name} is left, and its session is gone`),
    ...gone.map((name) => `${name} is still there`),
  ];
}

/** Looks until nothing is wrong, or the time is over. */
async function settle(look: () => Promise<string[]>): Promise<string[]> {
  const until = performance.now() + SETTLE_MS;
  for (;;) {
    const wrong = await look();
    if (wrong.length === 0 || performance.now() > until) return wrong;
    await sleep(POLL_MS);
  }
}
