import { expect, test } from "vitest";
import { waitFor } from "./eventually.ts";

test("answers what the check answers, as soon as it does", async () => {
  let looks = 0;
  const found = await waitFor("the third look", () => {
    looks += 1;
    return looks === 3 ? "here" : undefined;
  });
  expect(found).toBe("here");
  expect(looks).toBe(3);
});

test("a count of 0 is waited out", async () => {
  const counts = [0, 0, 2];
  expect(await waitFor("some", () => counts.shift())).toBe(2);
});

test("names what did not happen", async () => {
  const waiting = waitFor("the end of the world", () => false, { timeout: 30 });
  await expect(waiting).rejects.toThrow("not within 30 ms: the end of the world");
});
