import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Trouble } from "./testing/faulty-io.ts";
import { LogScenario, type Step, steps } from "./testing/log-scenario.ts";
import { openTempDir } from "./testing/temp-dir.ts";

const trouble = fc.constantFrom<Trouble>("none", "none", "full", "part", "broken");

function play(given: readonly Step[], segmentBytes: number, troubles: readonly Trouble[]): void {
  using dir = openTempDir();
  using scenario = new LogScenario(join(dir.path, "log"), segmentBytes, troubles);
  for (const step of given) step.run(scenario);
  scenario.finish();
}

const segmentBytes = fc.oneof(
  { weight: 19, arbitrary: fc.integer({ min: 16, max: 120 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }) },
);
const timeout = 60_000;

test("any number of readers, started at any time and place, see exactly what was written", {
  timeout,
}, () => {
  fc.assert(
    fc.property(steps, segmentBytes, (given, size) => play(given, size, [])),
    { numRuns: 60 },
  );
});

test("a disk that fills or fails at any call costs nothing but what the count says", {
  timeout,
}, () => {
  fc.assert(fc.property(steps, segmentBytes, fc.array(trouble, { maxLength: 80 }), play), {
    numRuns: 100,
  });
});

test("the scenario itself notices a wrong byte", () => {
  using dir = openTempDir();
  using scenario = new LogScenario(join(dir.path, "log"), 32, []);
  scenario.append(1, Buffer.from("right"));
  scenario.now.bytes[2] = 0;
  expect(() => scenario.finish()).toThrow();
});
