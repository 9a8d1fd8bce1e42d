import { interleave, median, pairedRatios } from "#bench/lib/statistics.ts";
import type { Row, RowOptions } from "#bench/row.ts";
import { openBare } from "./bare.ts";
import { openPrintedSession } from "./printed-session.ts";
import { openTempGateway } from "./temp-gateway.ts";
import type { Viewer, Wire } from "./viewer.ts";

const MB = 1e6;
/** Times over in one run: one pass takes a tenth of a second. */
const PASSES = 3;

/** The whole log of a session that has ended, to a viewer that comes later. */
export async function measureReplayWs({ runs }: RowOptions): Promise<Row[]> {
  await using bare = await openBare();
  await using gateway = await openTempGateway();
  await using printed = await openPrintedSession(gateway);
  const { sessionId, path, bytes } = printed;
  const replay = (wire: Wire) => replayAll(bytes, () => gateway.attach(sessionId, { wire }));
  const measures = {
    bare: () => replayAll(bytes, () => bare.replay(path)),
    binary: () => replay("binary"),
    text: () => replay("text"),
  };
  await interleave(1, measures);
  const speeds = await interleave(runs, measures);
  return (["binary", "text"] as const).map((wire) => ({
    what: `replay of ${Math.round(bytes / 2 ** 20)} MiB to a WebSocket viewer, ${wire} frames`,
    measured: `${median(speeds[wire]).toFixed(0)} MB/s`,
    against: `bare ws, a file in frames of 64 KiB: ${median(speeds.bare).toFixed(0)} MB/s`,
    ratio: median(pairedRatios(speeds[wire], speeds.bare)),
    target: { at_least: wire === "binary" ? 1 : 0.35 },
  }));
}

/** MB/s. */
async function replayAll(bytes: number, attach: () => Promise<Viewer>): Promise<number> {
  const started = performance.now();
  for (let pass = 0; pass < PASSES; pass += 1) {
    using viewer = await attach();
    await viewer.until(bytes);
  }
  const seconds = (performance.now() - started) / 1000;
  return (PASSES * bytes) / seconds / MB;
}
