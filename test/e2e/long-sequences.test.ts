import { expect, test } from "vitest";
import { runLongSequences } from "#bench/screens/long-sequences.ts";

// The full size is in `npm run soak`.
test("a gateway outlives programs that print one endless sequence, and draws what follows it", async () => {
  const { wrong, gateway_kib } = await runLongSequences({ rounds: 2, bytes: 3_000_000 });
  expect(wrong).toEqual([]);
  expect(gateway_kib).toBeLessThan(300 * 1024);
});
