import { setTimeout as sleep } from "node:timers/promises";
import { limits } from "#contract/limits.ts";
import { interleave, median } from "./lib/statistics.ts";
import { openTempHost, type TempHost } from "./lib/temp-host.ts";
import type { Row, RowOptions } from "./row.ts";

const SESSIONS = 50;
/** For the shells to reach their prompt. */
const START_MS = 1000;

const shells = {
  /** Ends by the first HUP. */
  plain: ["bash", "--norc", "--noprofile", "-i"],
  /** The shell ends by HUP, its children do not. */
  stubborn: [
    "bash",
    "--norc",
    "-c",
    "(trap '' HUP; exec sleep infinity) & (trap '' HUP; exec sleep infinity) & wait",
  ],
} as const;

/** All of them closed at once, against the one grace period that they share. */
export async function measureClose({ runs }: RowOptions): Promise<Row[]> {
  await using host = await openTempHost();
  const times = await interleave(runs, {
    plain: () => closeAll(host, shells.plain),
    stubborn: () => closeAll(host, shells.stubborn),
  });
  const grace = limits.grace_ms;
  const row = (what: string, found: readonly number[]): Row => ({
    what: `close of ${SESSIONS} sessions at once: ${what}`,
    measured: `${median(found).toFixed(0)} ms`,
    against: `one grace period: ${grace} ms`,
    ratio: median(found) / grace,
  });
  return [
    row("interactive shells", times.plain),
    row("each with 2 children that ignore HUP", times.stubborn),
  ];
}

async function closeAll(host: TempHost, argv: readonly string[]): Promise<number> {
  const made = await Promise.all(
    Array.from({ length: SESSIONS }, () => host.create({ kind: "terminal", argv })),
  );
  await sleep(START_MS);
  const started = performance.now();
  await Promise.all(
    made.map(({ session_id }) => host.client.call("session.close", { session_id })),
  );
  const time = performance.now() - started;
  for (const { session_id } of made)
    await host.client.call("session.close", { session_id, purge: true });
  return time;
}
