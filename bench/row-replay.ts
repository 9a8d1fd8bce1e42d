import { closeSync, openSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { channels } from "#contract/channels.ts";
import { openLogFiles } from "#log/log-files.ts";
import { openLogWriter } from "#log/log-writer.ts";
import { readRange } from "#log/read-range.ts";
import { interleave, median, pairedRatios } from "./lib/statistics.ts";
import { openTempDir } from "./lib/temp-dir.ts";
import type { Row, RowOptions } from "./row.ts";

const BYTES = 64 * 1024 * 1024;
/** As a terminal gives them, and as fast: so many records lie between the bytes. */
const APPEND_BYTES = 4096;
const APPEND_MS = 0.06;
const chunkSizes = [64 * 1024, 1024 * 1024];
const MB = 1e6;
/** Times over in one run: one pass takes some 30 ms, and a collection of garbage as long. */
const PASSES = 5;

/** 64 MiB read back from a log, as clients read it, against the same bytes in one file. */
export async function measureReplay({ runs }: RowOptions): Promise<Row[]> {
  await using dir = openTempDir();
  const log = join(dir.path, "log");
  const file = join(dir.path, "file");
  writeLog(log);
  writeFileSync(file, Buffer.alloc(BYTES, "x"));
  const rows: Row[] = [];
  for (const limit of chunkSizes) {
    const measures = {
      bare: () => repeat(() => readFile(file, limit)),
      log: () => repeat(() => readLog(log, limit)),
    };
    await interleave(1, measures);
    const speeds = await interleave(runs, measures);
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

/** MB/s. */
async function repeat(read: () => Promise<number> | number): Promise<number> {
  const started = performance.now();
  for (let pass = 0; pass < PASSES; pass += 1) {
    const count = await read();
    if (count !== BYTES) throw new Error(`${count} of ${BYTES} bytes were read`);
  }
  const seconds = (performance.now() - started) / 1000;
  return (PASSES * BYTES) / seconds / MB;
}

async function readLog(dir: string, limit: number): Promise<number> {
  using source = openLogFiles(dir);
  let count = 0;
  for await (const chunk of readRange(source, 0, { to: source.tail(), limit })) {
    if (chunk.kind === "bytes") count += chunk.bytes.length;
  }
  return count;
}

/** A new buffer for each chunk, as whoever keeps or sends it needs. */
function readFile(path: string, limit: number): number {
  const fd = openSync(path, "r");
  let count = 0;
  for (;;) {
    const got = readSync(fd, Buffer.allocUnsafe(limit));
    if (got === 0) break;
    count += got;
  }
  closeSync(fd);
  return count;
}
