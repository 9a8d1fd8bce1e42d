import { setTimeout as sleep } from "node:timers/promises";
import { readMemory } from "#bench/lib/process-facts.ts";
import type { Row, RowOptions } from "#bench/row.ts";
import { runNeverReader } from "./never-reader.ts";
import { openRawViewers } from "./raw-viewers.ts";
import { openTempGateway } from "./temp-gateway.ts";

const VIEWERS = 1000;
const SESSIONS = 10;
const SETTLE_MS = 2000;
const SECONDS = 20;
const MIB_KIB = 1024;

export async function measureGatewayMemory({ seconds = SECONDS }: RowOptions): Promise<Row[]> {
  return [await measureIdleViewers(), await measureNeverReader(seconds)];
}

async function measureIdleViewers(): Promise<Row> {
  await using gateway = await openTempGateway();
  await using viewers = await openRawViewers(gateway);
  const sessions: string[] = [];
  for (let made = 0; made < SESSIONS; made += 1)
    sessions.push(await gateway.create({ kind: "terminal", argv: ["sleep", "infinity"] }));
  const look = async () => {
    await sleep(SETTLE_MS);
    return { gateway: readMemory(gateway.pid), host: readMemory(gateway.host.pid) };
  };
  const open = async (count: number) => {
    for (const session of sessions) await viewers.open(session, count / SESSIONS);
  };
  // What a first viewer loads is not the price of the others.
  await open(SESSIONS);
  await viewers.close();
  const before = await look();
  await open(VIEWERS);
  const { open: held } = await viewers.look();
  if (held !== VIEWERS) throw new Error(`${held} of ${VIEWERS} viewers are attached`);
  const during = await look();
  await viewers.close();
  const after = await look();
  const say = (name: "gateway" | "host") =>
    [before, during, after].map((facts) => inMib(facts[name].rss_kib)).join(" / ");
  const each = (during.gateway.rss_kib - before.gateway.rss_kib) / VIEWERS;
  return {
    what: `gateway memory before / with / after ${VIEWERS} idle viewers of ${SESSIONS} sessions`,
    measured: `RSS ${say("gateway")} MiB, ${each.toFixed(1)} KiB a viewer`,
    against: `host: RSS ${say("host")} MiB`,
  };
}

async function measureNeverReader(seconds: number): Promise<Row> {
  const { gateway, host, tail } = await runNeverReader(seconds);
  return {
    what: `gateway memory over ${seconds} s of \`yes\` with a viewer that never reads`,
    measured: `RSS ${gateway.map(inMib).join(" / ")} MiB; ${(tail / 1e6).toFixed(0)} MB printed`,
    against: `host: RSS ${host.map(inMib).join(" / ")} MiB`,
  };
}

function inMib(kib: number): string {
  return (kib / MIB_KIB).toFixed(0);
}
