import { expect, test } from "vitest";
import { runManyShellRuns } from "#bench/lib/shells.ts";
import { openTestHost } from "#test/harness/host.ts";
import { repeats } from "#test/harness/repeats.ts";

test("runs and starts that fail leave descriptors, files and processes as before", async () => {
  await using host = await openTestHost();
  const { before, after, wrong } = await runManyShellRuns(host, {
    runs: repeats({ few: 20, full: 60 }),
  });
  expect(wrong).toEqual([]);
  // Other tests use the folder for temporary files too, and close what they had open in this process.
  const { temporary: _before, own_descriptors: most, ...held } = before;
  const { temporary: _after, own_descriptors, ...left } = after;
  expect(left).toEqual(held);
  expect(own_descriptors).toBeLessThanOrEqual(most);
});
