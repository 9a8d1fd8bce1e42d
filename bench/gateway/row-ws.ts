import { join } from "node:path";
import { type SampleText, writeSampleText } from "#bench/lib/sample-text.ts";
import { interleave, median, pairedRatios } from "#bench/lib/statistics.ts";
import { openTempDir } from "#bench/lib/temp-dir.ts";
import type { Row, RowOptions } from "#bench/row.ts";
import { openBare } from "./bare.ts";
import { readCpuSeconds } from "./cpu-time.ts";
import { openTempGateway, type TempGateway } from "./temp-gateway.ts";
import type { Viewer, Wire } from "./viewer.ts";

const BYTES = 48 * 1024 * 1024;
const MB = 1e6;

/** From the start of the producer to the last byte in the hands of a viewer that was there before. */
export async function measureWs({ runs }: RowOptions): Promise<Row[]> {
  await using dir = openTempDir();
  const text = writeSampleText(join(dir.path, "text"), BYTES);
  const argv = ["/bin/sh", "-c", `stty -echo; printf R; read go; exec cat ${text.path}`];
  await using bare = await openBare();
  await using gateway = await openTempGateway();
  const cpu = new CpuTimes({ bare: bare.pid, gateway: gateway.pid, host: gateway.host.pid });
  const speeds = await interleave(runs, {
    bare: async () => {
      using viewer = await bare.terminal(argv);
      return await cpu.during("bare", () => print(viewer, text));
    },
    binary: () => cpu.during("binary", () => printThrough(gateway, argv, { wire: "binary", text })),
    text: () => cpu.during("text", () => printThrough(gateway, argv, { wire: "text", text })),
  });
  const against = `bare node-pty + ws: ${median(speeds.bare).toFixed(1)} MB/s (CPU ${cpu.say("bare", "bare")} s)`;
  return (["binary", "text"] as const).map((wire) => ({
    what: `PTY to a WebSocket viewer, ${wire} frames: \`cat\` of ${BYTES / 2 ** 20} MiB of lines`,
    measured: `${median(speeds[wire]).toFixed(1)} MB/s (CPU gateway ${cpu.say(wire, "gateway")}, host ${cpu.say(wire, "host")} s)`,
    against,
    ratio: median(pairedRatios(speeds[wire], speeds.bare)),
    ...(wire === "binary" ? { target: { at_least: 0.9 } } : {}),
  }));
}

async function printThrough(
  gateway: TempGateway,
  argv: readonly string[],
  { wire, text }: { readonly wire: Wire; readonly text: SampleText },
): Promise<number> {
  const sessionId = await gateway.create({ kind: "terminal", argv });
  using viewer = await gateway.attach(sessionId, { wire, query: "since=0&role=controller" });
  const speed = await print(viewer, text);
  await gateway.remove(sessionId);
  return speed;
}

/** MB/s. */
async function print(viewer: Viewer, { terminal }: SampleText): Promise<number> {
  await viewer.until(1);
  const started = performance.now();
  const end = viewer.until(1 + terminal.bytes);
  viewer.type("\n");
  const seconds = ((await end) - started) / 1000;
  return terminal.bytes / seconds / MB;
}

/** What each process ran while each was measured. */
class CpuTimes<P extends string> {
  readonly #pids: Readonly<Record<P, number>>;
  readonly #seconds = new Map<string, number[]>();

  constructor(pids: Readonly<Record<P, number>>) {
    this.#pids = pids;
  }

  async during<T>(what: string, run: () => Promise<T>): Promise<T> {
    const before = this.#read();
    const result = await run();
    const after = this.#read();
    for (const [name, seconds] of after) {
      const key = `${what} ${name}`;
      const list = this.#seconds.get(key) ?? [];
      list.push(seconds - (before.get(name) ?? 0));
      this.#seconds.set(key, list);
    }
    return result;
  }

  say(what: string, name: P): string {
    return median(this.#seconds.get(`${what} ${name}`) ?? []).toFixed(2);
  }

  #read(): Map<string, number> {
    return new Map(
      Object.entries<number>(this.#pids).map(([name, pid]) => [name, readCpuSeconds(pid)]),
    );
  }
}
