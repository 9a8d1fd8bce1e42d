import fc from "fast-check";
import { expect, test } from "vitest";
import { WorkspaceId } from "#contract/ids.ts";
import { createShellRow } from "./testing/rows.ts";
import { openTestStore } from "./testing/test-store.ts";

type Step =
  | { readonly kind: "page"; readonly limit: number }
  | { readonly kind: "insert" }
  | { readonly kind: "remove"; readonly at: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("page" as const), limit: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant("insert" as const) }),
  fc.record({ kind: fc.constant("remove" as const), at: fc.nat(30) }),
);

test("pages visit every row that stays exactly once, the newest first, while others come and go", {
  timeout: 60_000,
}, () => {
  const play = (count: number, steps: readonly Step[]) => {
    using test = openTestStore();
    const { shells } = test.store;
    const insert = () => {
      const row = createShellRow();
      shells.insert(row);
      return row.shell_id;
    };
    const atStart = Array.from({ length: count }, insert);
    const present = new Set<string>(atStart);
    const seen: string[] = [];
    let cursor: string | null | undefined;
    const readPage = (limit: number) => {
      if (cursor === null) return;
      const page = shells.list({ workspaces: "*", limit, cursor });
      expect(page.rows.length).toBeLessThanOrEqual(limit);
      seen.push(...page.rows.map((row) => row.shell_id));
      cursor = page.cursor;
    };
    for (const one of steps) {
      if (one.kind === "page") readPage(one.limit);
      if (one.kind === "insert") insert();
      const victim = one.kind === "remove" ? [...present][one.at % (present.size + 1)] : undefined;
      if (victim !== undefined && shells.remove(victim)) present.delete(victim);
    }
    while (cursor !== null) readPage(3);
    const stayed = atStart
      .filter((id) => present.has(id))
      .map(String)
      .toReversed();
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => stayed.includes(id))).toEqual(stayed);
  };
  fc.assert(fc.property(fc.integer({ min: 0, max: 12 }), fc.array(step, { maxLength: 20 }), play), {
    numRuns: 40,
  });
});

test("the last page has no cursor, also when it is full", () => {
  using test = openTestStore();
  for (let i = 0; i < 4; i += 1) test.store.shells.insert(createShellRow());
  const page = test.store.shells.list({ workspaces: "*", limit: 2 });
  const rest = test.store.shells.list({ workspaces: "*", limit: 2, cursor: page.cursor ?? "" });
  expect([page.rows.length, rest.rows.length, rest.cursor]).toEqual([2, 2, null]);
});

test.each(["", "0", "-1", "1.5", "x", "1; DROP TABLE shells", "99999999999999999999"])(
  "a cursor that no list gave is refused: %j",
  (cursor) => {
    using test = openTestStore();
    expect(() => test.store.shells.list({ workspaces: "*", limit: 1, cursor })).toThrow(
      expect.objectContaining({ code: "invalid_request" }),
    );
  },
);

test("a row that somebody damaged is skipped and said, and the others are given", () => {
  using test = openTestStore();
  const [good, bad] = [createShellRow(), createShellRow()];
  test.store.shells.insert(good);
  test.store.shells.insert(bad);
  test.sql(`UPDATE shells SET workspace_id = 'nonsense' WHERE shell_id = '${bad.shell_id}'`);
  expect(test.store.shells.list({ workspaces: "*", limit: 9 }).rows).toEqual([good]);
  expect(test.store.shells.find(bad.shell_id)).toBeUndefined();
  expect(test.said).toHaveLength(2);
});

test("a list shows the allowed workspaces alone, page by page", () => {
  using test = openTestStore();
  const [a, b] = ["wsp_aaaaaaaaaaaaaaaa", "wsp_bbbbbbbbbbbbbbbb"].map((id) =>
    WorkspaceId.parse(id),
  );
  for (const workspace_id of [a, b, a, b, a]) {
    if (workspace_id !== undefined) test.store.shells.insert(createShellRow({ workspace_id }));
  }
  const workspaces = a === undefined ? [] : [a];
  const page = test.store.shells.list({ workspaces, limit: 2 });
  const rest = test.store.shells.list({ workspaces, limit: 2, cursor: page.cursor ?? "" });
  expect([...page.rows, ...rest.rows].map((row) => row.workspace_id)).toEqual([a, a, a]);
  expect(test.store.shells.list({ workspaces, workspace_id: b, limit: 2 }).rows).toEqual([]);
});
