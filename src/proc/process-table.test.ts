import { describe, expect, test } from "vitest";
import { openChildren } from "./fixtures/open-children.ts";
import { findProcess, isDead } from "./identity.ts";
import { ProcessTable, type Snapshot, takeSnapshot } from "./process-table.ts";

describe("a snapshot", () => {
  test("holds every live process with what marks it", async () => {
    await using children = await openChildren();
    const { child, heard } = await children.sh("echo go; read x", {
      stdin: true,
      env: { REINS_SESSION_ID: "ses_snapshot", XREINS_SESSION_ID: "ses_x" },
    });
    await heard.untilText("go");
    const cleared = await children.sh("exec env -i sh -c 'echo go; read x'", { stdin: true });
    await cleared.heard.untilText("go");
    const snapshot = takeSnapshot();
    const found = snapshot.processes.find(({ pid }) => pid === child.pid);
    expect(found).toMatchObject({ ppid: process.pid, pgid: child.pid, sid: child.pid });
    expect(found?.start_time).toBe(child.identity.start_time);
    expect(snapshot.processes.some(({ pid }) => pid === process.pid)).toBe(true);
    expect(snapshot.sessionOf(child.pid)).toBe("ses_snapshot");
    expect(snapshot.sessionOf(cleared.child.pid)).toBeUndefined();
    expect(snapshot.sessionOf(2 ** 30)).toBeUndefined();
    expect(snapshot.limitOf(child.pid)).toBe(child.limit_mark);
    expect(snapshot.limitOf(2 ** 30)).toBeUndefined();
    expect(snapshot.processes.filter(isDead)).toEqual([]);
    expect(findProcess(child.pid)?.start_time).toBe(found?.start_time);
  });
});

describe("the process table", () => {
  const empty: Snapshot = { processes: [], sessionOf: () => undefined, limitOf: () => undefined };

  test("is read once for everybody who asks in the same turn", async () => {
    const table = new ProcessTable(() => ({ ...empty }));
    const first = table.snapshot();
    expect(table.snapshot()).toBe(first);
    expect(table.scans).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(table.snapshot()).not.toBe(first);
    expect(table.scans).toBe(2);
  });

  test("is read again for who must see what happened since", async () => {
    const table = new ProcessTable(() => ({ ...empty }));
    const first = table.snapshot();
    const fresh = table.fresh();
    expect(fresh).not.toBe(first);
    expect(table.snapshot()).toBe(fresh);
    expect(table.scans).toBe(2);
    await new Promise((resolve) => setImmediate(resolve));
    expect(table.snapshot()).not.toBe(fresh);
  });
});
