import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { createShellRow } from "./testing/rows.ts";
import { openTestStore } from "./testing/test-store.ts";

test("a shell is found as it was put in, by every connection", () => {
  using test = openTestStore();
  const row = createShellRow({ user_id: null });
  test.store.shells.insert(row);
  expect(test.openAnother().shells.find(row.shell_id)).toEqual(row);
});

test("who swaps with the right expectation wins, everybody else is told", () => {
  using test = openTestStore();
  const { shells } = test.store;
  const other = test.openAnother().shells;
  const { shell_id } = createShellRow();
  shells.insert(createShellRow({ shell_id }));
  expect(shells.swapRunning(shell_id, null, "me")).toBe(true);
  expect(other.swapRunning(shell_id, null, "you")).toBe(false);
  expect(other.swapRunning(shell_id, "you", null)).toBe(false);
  expect(other.find(shell_id)?.running).toBe("me");
  expect(other.swapRunning(shell_id, "me", null)).toBe(true);
  expect(shells.find(shell_id)?.running).toBeNull();
  expect(shells.swapRunning("shl_unknown", null, "me")).toBe(false);
});

test("a change leaves the other shells and who runs as they are", () => {
  using test = openTestStore();
  const { shells } = test.store;
  const [row, other] = [createShellRow({ running: "me" }), createShellRow()];
  shells.insert(row);
  shells.insert(other);
  const change = { work_dir: "/tmp", last_run_at: "2026-02-02T00:00:00.000Z" };
  shells.update(row.shell_id, change);
  expect(shells.find(row.shell_id)).toEqual({ ...row, ...change });
  expect(shells.find(other.shell_id)).toEqual(other);
});

test("a shell is removed once", () => {
  using test = openTestStore();
  const row = createShellRow();
  test.store.shells.insert(row);
  expect(test.store.shells.remove(row.shell_id)).toBe(true);
  expect(test.store.shells.remove(row.shell_id)).toBe(false);
});

test("there are as many shells as the limit says and no more", () => {
  using test = openTestStore();
  test.store.transaction(() => {
    for (let i = 0; i < limits.shells; i += 1) test.store.shells.insert(createShellRow());
  });
  expect(() => test.store.shells.insert(createShellRow())).toThrow(
    expect.objectContaining({ code: "too_many", details: { limit: limits.shells } }),
  );
});
