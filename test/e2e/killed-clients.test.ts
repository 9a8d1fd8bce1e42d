import { expect, test } from "vitest";
import { followWithKills } from "#bench/lib/killed-clients.ts";
import { openTempHost } from "#bench/lib/temp-host.ts";

test("clients killed with -9 at any moment lose and double nothing: stitched by offset they have the log", async () => {
  await using host = await openTempHost();
  const { kills, tail, wrong } = await followWithKills(host, { bytes: 3_000_000, clients: 3 });
  expect(wrong).toEqual([]);
  expect(tail).toBe(3_375_000);
  expect(kills).toBeGreaterThan(0);
});
