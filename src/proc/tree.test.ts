import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ProcessStat } from "./identity.ts";
import type { Snapshot } from "./process-table.ts";
import { findTree, type TreeMarks } from "./tree.ts";

const HOST = 50;
const SESSION = "ses_mine";
const MARK = 700_000;
const root = { pid: 100, start_time: 1000, boot_id: "b" };

type Entry = ProcessStat & { readonly session?: string; readonly limit?: number };

function entry(pid: number, parts: Partial<Entry> = {}): Entry {
  return { pid, name: "x", state: "S", ppid: 1, pgid: pid, sid: pid, start_time: 2000, ...parts };
}

function snapshotOf(processes: readonly Entry[]): Snapshot {
  const find = (pid: number) => processes.find((process) => process.pid === pid);
  return {
    processes,
    sessionOf: (pid) => find(pid)?.session,
    limitOf: (pid) => find(pid)?.limit,
  };
}

function pidsOf(processes: readonly Entry[], marks: Partial<TreeMarks> = {}): number[] {
  const all = { session_id: SESSION, root, limit_mark: MARK, ...marks };
  return findTree(snapshotOf(processes), all, HOST)
    .map(({ pid }) => pid)
    .toSorted((a, b) => a - b);
}

describe("a tree", () => {
  test("is its root and everybody reached by parent, group and session", () => {
    const processes = [
      entry(100, { ppid: HOST, start_time: 1000 }),
      entry(101, { ppid: 100, pgid: 101, sid: 100 }),
      entry(102, { ppid: 101, pgid: 102, sid: 102 }),
      entry(103, { ppid: 1, pgid: 102, sid: 999 }),
      entry(104, { ppid: 1, pgid: 104, sid: 999 }),
      entry(200),
    ];
    expect(pidsOf(processes)).toEqual([100, 101, 102, 103, 104]);
  });

  test("holds who left everything behind but the marker", () => {
    expect(
      pidsOf([entry(300, { session: SESSION }), entry(301, { session: "ses_other" })]),
    ).toEqual([300]);
  });

  test("holds orphans of ours that cleared their environment, by the limit that they inherited", () => {
    const orphan = entry(300, { ppid: HOST, limit: MARK });
    const elsewhere = entry(301, { ppid: 1, limit: MARK });
    const another = entry(302, { ppid: HOST, limit: MARK - 1 });
    expect(pidsOf([orphan, elsewhere, another])).toEqual([300]);
    expect(pidsOf([orphan, elsewhere, another], { limit_scope: "all" })).toEqual([300, 301]);
    expect(pidsOf([orphan, elsewhere, another], { limit_mark: undefined })).toEqual([]);
  });

  test("holds nobody of another host's session whose mark happens to be the same", () => {
    const hidden = entry(300, { limit: MARK });
    const others = entry(301, { limit: MARK, session: "ses_other" });
    expect(pidsOf([hidden, others], { limit_scope: "all" })).toEqual([300]);
  });

  test("holds what its root left in its group and session", () => {
    const left = [
      entry(101, { pgid: 100, sid: 100, limit: MARK }),
      entry(102, { pgid: 102, sid: 100 }),
      entry(103, { ppid: 102 }),
    ];
    expect(pidsOf(left)).toEqual([101, 102, 103]);
  });

  test("does not hold strangers who have got its root's number", () => {
    const stranger = entry(100, { start_time: 5000, limit: 1 });
    const itsChild = entry(401, { ppid: 100, pgid: 100, sid: 100, start_time: 5001, limit: 1 });
    expect(pidsOf([stranger, itsChild])).toEqual([]);
    // Also when the stranger has died in its turn and only its session is left.
    expect(pidsOf([itsChild])).toEqual([]);
    expect(pidsOf([itsChild], { limit_mark: undefined })).toEqual([]);
  });

  test("does not hold who lived before it", () => {
    expect(pidsOf([entry(90, { start_time: 999, session: SESSION, pgid: 100 })])).toEqual([]);
  });

  test("holds members of earlier looks, if they are the same", () => {
    const seen = new Map([
      [500, 2000],
      [501, 2000],
    ]);
    const processes = [entry(500), entry(501, { start_time: 3000 }), entry(502, { ppid: 500 })];
    expect(pidsOf(processes, { seen })).toEqual([500, 502]);
  });

  test("never joins strangers by group and session 0", () => {
    const member = entry(100, { start_time: 1000, pgid: 0, sid: 0 });
    expect(pidsOf([member, entry(101, { pgid: 0, sid: 0 })])).toEqual([100]);
  });
});

const anyEntry = (pid: number) =>
  fc.record({
    pid: fc.constant(pid),
    name: fc.constant("x"),
    state: fc.constantFrom("S", "R", "T"),
    ppid: fc.integer({ min: 0, max: 12 }),
    pgid: fc.integer({ min: 0, max: 12 }),
    sid: fc.integer({ min: 0, max: 12 }),
    start_time: fc.integer({ min: 1, max: 4 }),
    session: fc.constantFrom(undefined, undefined, undefined, undefined, SESSION, "ses_other"),
    limit: fc.constantFrom(undefined, undefined, undefined, MARK, MARK - 1),
  });
const anyTable = fc
  .subarray([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  .chain((pids) => fc.tuple(...pids.map((pid) => anyEntry(pid))))
  .map((entries) => entries as Entry[]);
const anyMarks = fc.record({
  session_id: fc.constant(SESSION),
  root: fc.record({
    pid: fc.integer({ min: 2, max: 12 }),
    start_time: fc.integer({ min: 1, max: 3 }),
    boot_id: fc.constant("b"),
  }),
  limit_mark: fc.constantFrom(MARK, undefined),
  limit_scope: fc.constantFrom("adopted" as const, "all" as const),
});

/** The same, said in another way: a walk from every seed over the ties between two processes. */
function walk(table: readonly Entry[], marks: TreeMarks, host: number): Set<number> {
  const { pid: rootPid, start_time: since } = marks.root;
  const able = table.filter((p) => p.pid > 1 && p.pid !== host && p.start_time >= since);
  const isSeed = (p: Entry) => {
    if (p.session === SESSION) return true;
    if (p.pid === rootPid) {
      if (p.start_time === since) return true;
    } else if ((p.pgid === rootPid || p.sid === rootPid) && marks.limit_mark !== undefined)
      return p.limit === marks.limit_mark || false;
    if (marks.limit_mark === undefined || p.limit !== marks.limit_mark) return false;
    return p.ppid === host || (marks.limit_scope === "all" && p.session === undefined);
  };
  const isTied = (a: Entry, b: Entry) =>
    b.ppid === a.pid || (a.pgid > 0 && a.pgid === b.pgid) || (a.sid > 0 && a.sid === b.sid);
  const reached = new Set<number>();
  const queue = able.filter(isSeed);
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (reached.has(next.pid)) continue;
    reached.add(next.pid);
    for (const other of able) if (isTied(next, other)) queue.push(other);
  }
  return reached;
}

describe("any tree", () => {
  test("is exactly who can be reached, and never init, the kernel or the host", () => {
    fc.assert(
      fc.property(anyTable, anyMarks, fc.integer({ min: 0, max: 12 }), (table, marks, host) => {
        const found = findTree(snapshotOf(table), marks, host).map(({ pid }) => pid);
        expect(new Set(found)).toEqual(walk(table, marks, host));
        expect(new Set(found).size).toBe(found.length);
        expect(found.filter((pid) => pid <= 1 || pid === host)).toEqual([]);
      }),
      { numRuns: 3000 },
    );
  });
});
