import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { argvOf, bytesOf, choosePlan, totalBytes } from "#bench/chaos/printed-stream.ts";
import { type FaultKind, faultKinds, planSteps } from "#bench/chaos/schedule.ts";
import { openRandom } from "#test/harness/random.ts";

const MINUTE_MS = 60_000;
const MOST_LINES = 1500;

test("a plan of a minute holds every kind of fault at least twice, within that minute, and is the same for the same seed", () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const steps = planSteps(seed, MINUTE_MS);
    const counts = new Map<FaultKind, number>();
    for (const { kind } of steps) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    expect(
      Object.keys(faultKinds).filter((kind) => (counts.get(kind as FaultKind) ?? 0) < 2),
    ).toEqual([]);
    expect(steps.map(({ at_ms }) => at_ms)).toEqual(
      steps.map(({ at_ms }) => at_ms).toSorted((a, b) => a - b),
    );
    expect(steps.at(-1)?.at_ms).toBeLessThan(MINUTE_MS);
    expect(planSteps(seed, MINUTE_MS)).toEqual(steps);
  }
  expect(planSteps(1, MINUTE_MS)).not.toEqual(planSteps(2, MINUTE_MS));
});

test("what a stream prints can be told from its plan, from any byte on", async () => {
  const random = openRandom(7);
  for (let count = 0; count < 5; count += 1) {
    const chosen = choosePlan(random);
    // A shell prints them one by one.
    const lines = Math.min(chosen.lines, MOST_LINES);
    const plan = { ...chosen, kind: "command" as const, pause_ms: 0, channels: 2, lines };
    const [shell = "", ...words] = argvOf(plan, "here");
    const run = spawn(shell, words, { stdio: ["ignore", "pipe", "pipe"] });
    const [stdout, stderr] = await Promise.all([text(run.stdout), text(run.stderr)]);
    expect(stdout.length + stderr.length).toBe(totalBytes(plan));
    const half = random.below(stdout.length);
    const whole = { from: 0, to: stdout.length };
    expect(bytesOf(plan, "stdout", whole).toString()).toBe(stdout);
    expect(bytesOf(plan, "stderr", whole).toString()).toBe(stderr);
    expect(bytesOf(plan, "stdout", { ...whole, from: half }).toString()).toBe(stdout.slice(half));
  }
});
