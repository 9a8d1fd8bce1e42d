import { setTimeout as sleep } from "node:timers/promises";
import { readMemory } from "#bench/lib/process-facts.ts";
import { openRawViewers } from "./raw-viewers.ts";
import { openTempGateway } from "./temp-gateway.ts";

export interface NeverReader {
  /** Resident memory in KiB, at the start and then every ten seconds. */
  readonly gateway: readonly number[];
  readonly host: readonly number[];
  /** What the session had printed at the end. */
  readonly tail: number;
}

const SAMPLE_SECONDS = 10;
const WARM_UP_MS = 2000;

/** `yes` on a terminal, and a viewer that takes nothing after the handshake. */
export async function runNeverReader(seconds: number): Promise<NeverReader> {
  await using gateway = await openTempGateway();
  await using viewers = await openRawViewers(gateway);
  const sessionId = await gateway.create({ kind: "terminal", argv: ["yes"] });
  await viewers.open(sessionId, 1);
  await viewers.pause();
  await sleep(WARM_UP_MS);
  const samples = { gateway: [] as number[], host: [] as number[] };
  const sample = () => {
    samples.gateway.push(readMemory(gateway.pid).rss_kib);
    samples.host.push(readMemory(gateway.host.pid).rss_kib);
  };
  sample();
  for (let left = seconds; left > 0; left -= SAMPLE_SECONDS) {
    await sleep(Math.min(left, SAMPLE_SECONDS) * 1000);
    sample();
  }
  const { tail } = await gateway.host.client.call("session.get", { session_id: sessionId });
  return { ...samples, tail };
}
