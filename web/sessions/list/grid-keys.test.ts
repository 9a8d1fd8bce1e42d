import { expect, test } from "vitest";
import type { SessionRow } from "#web/sessions/session-rows.ts";
import { findParent, readKey } from "./grid-keys.ts";

interface RowShape {
  readonly level?: number;
  readonly childCount?: number;
  readonly isExpanded?: boolean;
  readonly state?: string;
}

function row({ state = "running", ...shape }: RowShape = {}): SessionRow {
  const session = { session_id: "a", state: { kind: state } };
  // The keys look at nothing else.
  return { level: 1, childCount: 0, isExpanded: false, ...shape, session } as unknown as SessionRow;
}

const plain = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false };
const press = (key: string, at?: SessionRow, more = {}) =>
  readKey({ ...plain, key, ...more }, { row: at, mayChange: true, isInside: false });

test.each([
  ["Enter", {}, { kind: "open" }],
  [" ", {}, { kind: "select" }],
  ["F2", {}, { kind: "rename" }],
  ["Delete", {}, { kind: "end", how: "close" }],
  ["Delete", { state: "exited" }, { kind: "end", how: "remove" }],
  ["ContextMenu", {}, { kind: "menu" }],
  ["ArrowRight", { childCount: 2 }, { kind: "fold", isFolded: false }],
  ["ArrowRight", { childCount: 2, isExpanded: true }, undefined],
  ["ArrowRight", {}, undefined],
  ["ArrowLeft", { childCount: 2, isExpanded: true }, { kind: "fold", isFolded: true }],
  ["ArrowLeft", { level: 2 }, { kind: "parent" }],
  ["ArrowLeft", {}, undefined],
  ["x", {}, undefined],
])("%s on a row %o is %o", (key, shape, deed) => {
  expect(press(key, row(shape))).toEqual(deed);
});

test("arrows move also where no row is chosen yet; the rest needs one", () => {
  expect(press("ArrowDown")).toEqual({ kind: "move", key: "ArrowDown" });
  expect(press("Enter")).toBeUndefined();
});

test("Shift and F10 open the menu; F10 alone is the browser's", () => {
  expect(press("F10", row(), { shiftKey: true })).toEqual({ kind: "menu" });
  expect(press("F10", row())).toBeUndefined();
});

test("keys with a modifier belong to the browser and the palette", () => {
  for (const modifier of ["ctrlKey", "metaKey", "altKey"])
    expect(press("ArrowDown", row(), { [modifier]: true })).toBeUndefined();
  expect(press("Delete", row(), { shiftKey: true })).toBeUndefined();
});

test("Enter and Space on a button inside are the button's", () => {
  const inside = { row: row(), mayChange: true, isInside: true };
  expect(readKey({ ...plain, key: "Enter" }, inside)).toBeUndefined();
  expect(readKey({ ...plain, key: " " }, inside)).toBeUndefined();
  expect(readKey({ ...plain, key: "ArrowUp" }, inside)).toEqual({ kind: "move", key: "ArrowUp" });
});

test("whoever may only look changes nothing by keys", () => {
  const viewer = { row: row(), mayChange: false, isInside: false };
  const read = (key: string) => readKey({ ...plain, key }, viewer);
  expect([" ", "F2", "Delete"].map(read)).toEqual([undefined, undefined, undefined]);
  expect(read("Enter")).toEqual({ kind: "open" });
});

test("the parent is the nearest row above that is less deep", () => {
  const rows = [1, 2, 3, 3, 2].map((level) => row({ level }));
  expect(findParent(rows, 3)).toBe(1);
  expect(findParent(rows, 4)).toBe(0);
  expect(findParent(rows, 0)).toBeUndefined();
});
