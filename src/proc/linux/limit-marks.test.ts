import { describe, expect, test } from "vitest";
import { openChildren } from "#proc/fixtures/open-children.ts";
import { takeSnapshot } from "#proc/process-table.ts";
import { openLimitMarks } from "./limit-marks.ts";

const NONE = 2n ** 64n - 1n;

function fakeLimit(hard: bigint, soft = hard, taken?: ReadonlySet<number>) {
  const state = { soft, hard };
  const limitMark = {
    read: () => ({ ...state }),
    write(newSoft: bigint, newHard: bigint) {
      Object.assign(state, { soft: newSoft, hard: newHard });
      return 0;
    },
  };
  return { state, marks: openLimitMarks({ limitMark }, taken) };
}

describe("limit marks", () => {
  test("differ from child to child and stay below the limit", () => {
    const { marks } = fakeLimit(819_200n);
    const given = Array.from({ length: 5000 }, () => marks.next() ?? -1);
    expect(new Set(given).size).toBe(5000);
    expect(Math.max(...given)).toBeLessThan(819_200);
    expect(Math.min(...given)).toBeGreaterThan(819_200 - 400_002);
  });

  test("are not given to two, also when another program gave the first", () => {
    const all = Array.from({ length: 400_000 }, (_, index) => 819_199 - index);
    const free = 600_000;
    const taken = new Set(all.filter((mark) => mark !== free));
    const { marks } = fakeLimit(819_200n, undefined, taken);
    expect(marks.next()).toBe(free);
  });

  test("are ours only while the child is spawned, also when that throws", () => {
    const { state, marks } = fakeLimit(819_200n);
    expect(marks.during(700_000, () => state.soft)).toBe(700_000n);
    expect(state).toEqual({ soft: 819_200n, hard: 819_200n });
    const spawn = () =>
      marks.during(700_000, () => {
        throw new Error("boom");
      });
    expect(spawn).toThrow("boom");
    expect(state).toEqual({ soft: 819_200n, hard: 819_200n });
  });

  test("of another host, that we were started under, are taken off ourselves", () => {
    const { state } = fakeLimit(819_200n, 700_000n);
    expect(state).toEqual({ soft: 819_200n, hard: 819_200n });
  });

  test("do without where the limit leaves no room", () => {
    const { state, marks } = fakeLimit(1000n);
    expect(marks.next()).toBeUndefined();
    expect(marks.during(undefined, () => state.soft)).toBe(1000n);
  });

  test("are given where there is no limit, and leave it so for ourselves", () => {
    const { state, marks } = fakeLimit(NONE);
    const mark = marks.next() ?? 0;
    expect(Number.isSafeInteger(mark)).toBe(true);
    expect(marks.during(mark, () => state.soft)).toBe(BigInt(mark));
    expect(state).toEqual({ soft: NONE, hard: NONE });
  });

  test("reach everything that a child starts, and nobody else", async () => {
    await using children = await openChildren();
    const line = "env -i setsid sh -c 'echo pid $$; read x; exec sleep 1000' & wait";
    const one = await children.sh(line);
    const two = await children.sh(line);
    await Promise.all([one.heard.untilText("pid"), two.heard.untilText("pid")]);
    const { limitOf } = takeSnapshot();
    const pidOf = (text: string) => Number(/pid (\d+)/.exec(text)?.[1]);
    for (const { child, heard } of [one, two]) {
      expect(child.limit_mark).toBeGreaterThan(0);
      expect(limitOf(child.pid)).toBe(child.limit_mark);
      expect(limitOf(pidOf(heard.text()))).toBe(child.limit_mark);
    }
    expect(one.child.limit_mark).not.toBe(two.child.limit_mark);
    expect(limitOf(process.pid)).toBeGreaterThan(
      Math.max(one.child.limit_mark ?? 0, two.child.limit_mark ?? 0),
    );
  });
});
