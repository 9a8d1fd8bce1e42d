import { closeSync, openSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { channels } from "#contract/channels.ts";
import { readRange } from "#log/follow.ts";
import { openLogFiles } from "#log/log-files.ts";
import { openLogWriter } from "#log/log-writer.ts";
import { interleave, median, pairedRatios } from "./lib/statistics.ts";
import { openTempDir } from "./lib/temp-dir.ts";
import type { Row, RowOptions } from "./row.ts";

const BYTES = 64 * 1024 * 1024;
/** As a terminal gives them, and as fast: so many records lie between the bytes. */
const APPEND_BYTES = 4096;
const APPEND_MS = 0.06;
const chunkSizes = [64 * 1024, 1024 * 1024];
const MB = 1e6;

/** 64 MiB read back from a log, as clients read it, against the same bytes in one file. */
export async function measureReplay({ runs }: RowOptions): Promise<Row[]> {
  await using dir = openTempDir();
  const log = join(dir.path, "log");
  const file = join(dir.path, "file");
  writeLog(log);
  writeFileSync(file, Buffer.alloc(BYTES, "x"));
  const rows: Row[] = [];
  for (const limit of chunkSizes) {
    const speeds = await interleave(runs, {
      bare: () => readFile(file, limit),
      log: () => readLog(log, limit),
    });
    rows.push({
      what: `replay of ${BYTES / 2 ** 20} MiB in chunks of ${limit / 1024} KiB`,
      measured: `${median(speeds.log).toFixed(0)} MB/s`,
      against: `bare readSync loop on one file: ${median(speeds.bare).toFixed(0)} MB/s`,
      ratio: median(pairedRatios(speeds.log, speeds.bare)),
    });
  }
  return rows;
}

function writeLog(dir: string): void {
  let time = 0;
  const clock = {
    now: () => Date.now(),
    monotonic: () => time,
    timer: () => ({ [Symbol.dispose]: () => undefined }),
  };
  using writer = openLogWriter({ dir, clock });
  const bytes = Buffer.alloc(APPEND_BYTES, "x");
  while (writer.tail < BYTES) {
    time += APPEND_MS;
    writer.append(channels.stdout, bytes);
    if (writer.fault !== undefined) throw new Error(writer.fault.message);
  }
}

async function readLog(dir: string, limit: number): Promise<number> {
  const started = performance.now();
  using source = openLogFiles(dir);
  let count = 0;
  for await (const chunk of readRange(source, 0, { to: source.tail(), limit })) {
    if (chunk.kind === "bytes") count += chunk.bytes.length;
  }
  return speedOf(count, started);
}

/** A new buffer for each chunk, as whoever keeps or sends it needs. */
function readFile(path: string, limit: number): number {
  const started = performance.now();
  const fd = openSync(path, "r");
  let count = 0;
  for (;;) {
    const got = readSync(fd, Buffer.allocUnsafe(limit));
    if (got === 0) break;
    count += got;
  }
  closeSync(fd);
  return speedOf(count, started);
}

function speedOf(count: number, started: number): number {
  if (count !== BYTES) throw new Error(`${count} of ${BYTES} bytes were read`);
  return count / (performance.now() - started) / (MB / 1000);
}
