import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errnoOf } from "#base/errno.ts";
import { Fault } from "#contract/fault.ts";
import {
  countDescriptors,
  countThreads,
  listDescriptors,
  readMemory,
} from "./lib/process-facts.ts";
import { writeSampleText } from "./lib/sample-text.ts";
import { percentile } from "./lib/statistics.ts";
import { openTempDir } from "./lib/temp-dir.ts";
import type { Ending, Pty, PtyBackend } from "./pty-backend.ts";

/** Numbers and words by name; the caller knows what they mean. */
export type Measured = Readonly<Record<string, number | string>>;
export type PtyMeasure = (backend: PtyBackend, count: number) => Promise<Measured>;

/** Each runs in a process of its own, on one backend. */
export const ptyMeasures: Readonly<Record<string, PtyMeasure>> = {
  throughput: measureThroughput,
  bursts: measureBursts,
  idle: measureIdle,
  spawn: measureSpawn,
  endings: measureEndings,
  unread: measureUnread,
  "never read": measureNeverRead,
  late: measureLate,
};

const MIB = 1024 * 1024;
const SETTLE_MS = 500;

/** MB/s read and thrown away; `count` MiB. */
async function measureThroughput(backend: PtyBackend, count: number): Promise<Measured> {
  await using dir = openTempDir();
  const text = writeSampleText(join(dir.path, "text"), count * MIB);
  const started = performance.now();
  const { bytes } = await runToExit(backend, ["cat", text.path]);
  const seconds = (performance.now() - started) / 1000;
  if (bytes !== text.terminal.bytes) throw new Error(`${bytes} of ${text.terminal.bytes} bytes`);
  return { mb_per_s: bytes / seconds / 1e6 };
}

const burstSizes = [1, 100, 1000, 8000, 64_000, 1_000_000];
const BURST_WIDTH = 4;

/** `count` bursts of 1 B to 1 MB, each followed at once by the exit: in how many bytes are missing. */
async function measureBursts(backend: PtyBackend, count: number): Promise<Measured> {
  await using dir = openTempDir();
  const path = join(dir.path, "text");
  writeFileSync(path, Buffer.alloc(1_000_000, "x"));
  let [left, atExit, forGood] = [count, 0, 0];
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const size = burstSizes[left % burstSizes.length] ?? 1;
      const run = await runToExit(backend, ["head", "-c", String(size), path]);
      if (run.bytes < size) atExit += 1;
      if (run.bytes < size) await sleep(SETTLE_MS);
      if (run.total() !== size) forGood += 1;
    }
  };
  await Promise.all(Array.from({ length: BURST_WIDTH }, worker));
  return { runs: count, short_at_exit: atExit, lost_for_good: forGood };
}

/** What `count` idle terminals hold, and what a child sees of the others. */
async function measureIdle(backend: PtyBackend, count: number): Promise<Measured> {
  const ends: Promise<unknown>[] = [];
  const open = () => {
    const { promise, resolve } = Promise.withResolvers<Ending>();
    ends.push(promise);
    return backend.spawn(["sleep", "infinity"], { output: () => undefined, exited: resolve });
  };
  const ptys: Pty[] = [open()];
  await sleep(SETTLE_MS);
  const look = () => ({
    descriptors: countDescriptors(process.pid),
    threads: countThreads(process.pid),
    pss_kib: readMemory(process.pid).pss_kib,
  });
  const before = look();
  for (let made = 0; made < count; made += 1) ptys.push(open());
  await sleep(SETTLE_MS);
  const after = look();
  const last = ptys.at(-1)?.pid ?? 0;
  const STANDARD = 3;
  const foreign = countDescriptors(last) - STANDARD;
  const masters = listDescriptors(last).filter((link) => link.includes("ptmx")).length;
  for (const { pid } of ptys) process.kill(pid, "SIGKILL");
  await Promise.all(ends);
  return {
    descriptors_each: (after.descriptors - before.descriptors) / count,
    threads_each: (after.threads - before.threads) / count,
    pss_kib_each: (after.pss_kib - before.pss_kib) / count,
    foreign_descriptors_in_child: foreign,
    foreign_masters_in_child: masters,
  };
}

const BALLAST_BYTES = 500 * MIB;

/** How long the event loop stands still for a spawn, in a small process and in one of 500 MB. */
async function measureSpawn(backend: PtyBackend, count: number): Promise<Measured> {
  const small = await timeSpawns(backend, count);
  const ballast = Buffer.alloc(BALLAST_BYTES, 1);
  const large = await timeSpawns(backend, count);
  return {
    small_p50_ms: percentile(small, 0.5),
    small_p99_ms: percentile(small, 0.99),
    large_p50_ms: percentile(large, 0.5),
    large_p99_ms: percentile(large, 0.99),
    ballast_mib: ballast.length / MIB,
  };
}

async function timeSpawns(backend: PtyBackend, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let made = 0; made < count; made += 1) {
    const { promise, resolve } = Promise.withResolvers<Ending>();
    const started = performance.now();
    backend.spawn(["true"], { output: () => undefined, exited: resolve });
    times.push(performance.now() - started);
    await promise;
  }
  return times;
}

/** Whether each ending is told as what it was. */
async function measureEndings(backend: PtyBackend): Promise<Measured> {
  await using dir = openTempDir();
  const plain = join(dir.path, "plain");
  writeFileSync(plain, "no program");
  chmodSync(plain, 0o600);
  const sh = (script: string) => ["/bin/sh", "-c", script];
  const cases: readonly (readonly [argv: readonly string[], expected: string])[] = [
    [sh("exit 0"), "0"],
    [sh("exit 3"), "3"],
    [sh("exit 255"), "255"],
    [sh("kill -9 $$"), "SIGKILL"],
    [sh("kill -TERM $$"), "SIGTERM"],
    [sh("ulimit -c 0; kill -SEGV $$"), "SIGSEGV"],
    [["/no/such/program"], "ENOENT"],
    [[plain], "EACCES"],
    [["printf", "a\0b"], "EINVAL"],
  ];
  const wrong: string[] = [];
  for (const [argv, expected] of cases) {
    const said = await describeEnding(backend, argv);
    if (said !== expected) wrong.push(`${expected} as ${said}`);
  }
  return { cases: cases.length, wrong: wrong.length, which: wrong.join("; ") };
}

async function describeEnding(backend: PtyBackend, argv: readonly string[]): Promise<string> {
  try {
    const { ending } = await runToExit(backend, argv);
    return ending.signal ?? String(ending.code);
  } catch (error) {
    if (error instanceof Fault) return String(error.details.errno);
    return errnoOf(error) ?? String(error);
  }
}

const PAUSE_SECONDS = 2;
const TICK_MS = 5;

/** 1 MiB to a child that reads nothing for two seconds, then all: the longest time that the event loop stood still. */
async function measureUnread(backend: PtyBackend): Promise<Measured> {
  return await writeTo(backend, `sleep ${PAUSE_SECONDS}; exec head -c ${MIB} >/dev/null`);
}

/** The same, and the child ends without having read anything. */
async function measureNeverRead(backend: PtyBackend): Promise<Measured> {
  return await writeTo(backend, `exec sleep ${PAUSE_SECONDS}`);
}

async function writeTo(backend: PtyBackend, script: string): Promise<Measured> {
  const { promise, resolve } = Promise.withResolvers<Ending>();
  const ready = Promise.withResolvers<void>();
  const pty = backend.spawn(["/bin/sh", "-c", `stty raw -echo; echo ready; ${script}`], {
    output: () => ready.resolve(),
    exited: resolve,
  });
  await ready.promise;
  let [longest, last] = [0, performance.now()];
  const tick = () => {
    longest = Math.max(longest, performance.now() - last - TICK_MS);
    last = performance.now();
  };
  const timer = setInterval(tick, TICK_MS);
  pty.write(Buffer.alloc(MIB, "x"));
  await promise;
  clearInterval(timer);
  tick();
  return { blocked_ms: longest };
}

/** A child exits at once, what it started prints half a second later: when the exit is told, and whether that arrives. */
async function measureLate(backend: PtyBackend): Promise<Measured> {
  const started = performance.now();
  const run = await runToExit(backend, [
    "/bin/sh",
    "-c",
    "trap '' HUP; (sleep 0.5; echo late) & exit 0",
  ]);
  const exit_ms = performance.now() - started;
  await sleep(2 * SETTLE_MS);
  return { exit_ms, late_bytes: run.total() };
}

interface Run {
  readonly ending: Ending;
  /** That had come when the exit was told. */
  readonly bytes: number;
  readonly total: () => number;
}

async function runToExit(backend: PtyBackend, argv: readonly string[]): Promise<Run> {
  const { promise, resolve } = Promise.withResolvers<Run>();
  let total = 0;
  backend.spawn(argv, {
    output: (bytes) => {
      total += bytes.length;
    },
    exited: (ending) => resolve({ ending, bytes: total, total: () => total }),
  });
  return await promise;
}
