import { expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import type { ScreenText } from "#contract/operations/screen.ts";
import type { Screens } from "#screen/screens.ts";
import { openWrittenSession, WRITTEN_SESSION } from "#test/harness/written-session.ts";
import { checkSince, describeSight, lookAt } from "./terminal-view.ts";

const NOW = screenOf(["same", "new", ""]);
const EVERYTHING = [
  { row: 0, text: "same" },
  { row: 1, text: "new" },
  { row: 2, text: "" },
];

test.each([
  ["an exact one", screenOf(["same", "old", ""]), [{ row: 1, text: "new" }]],
  ["one that is the same", NOW, []],
  ["one whose history is not kept", { ...screenOf(["same", "old", ""]), exact: false }, EVERYTHING],
  ["one of another size", { ...screenOf(["same", "old", ""]), cols: 20 }, EVERYTHING],
  ["one that takes too long to draw", new Fault("busy", "later"), EVERYTHING],
])("compared with %s, the lines that differ or may differ are told", async (_, before, changed) => {
  using session = openWrittenSession();
  session.print("0123456789");
  using handle = await session.hosts.of(WRITTEN_SESSION).open(WRITTEN_SESSION);
  const screens = fakeScreens(before);
  const sight = await lookAt(screens, handle);
  const view = await describeSight(screens, handle, { sight, since: 4 });
  expect(view).toMatchObject({ screen: "same\nnew", offset: 10, changed });
});

test("an offset behind the end is refused, the end itself is none", async () => {
  using session = openWrittenSession();
  session.print("0123456789");
  using handle = await session.hosts.of(WRITTEN_SESSION).open(WRITTEN_SESSION);
  checkSince(handle, undefined);
  checkSince(handle, 10);
  expect(() => checkSince(handle, 11)).toThrow(
    expect.objectContaining({ code: "offset_out_of_range", details: { tail: 10, first: 0 } }),
  );
});

test("the state is the one from before the screen was drawn", async () => {
  using session = openWrittenSession();
  using handle = await session.hosts.of(WRITTEN_SESSION).open(WRITTEN_SESSION);
  const screens: Screens = {
    ...fakeScreens(NOW),
    text: async () => {
      session.enter({ kind: "lost", reason: "host_lost" });
      return NOW;
    },
  };
  expect(await lookAt(screens, handle)).toMatchObject({ state: { kind: "running" } });
});

function screenOf(lines: string[]): ScreenText {
  const modes = { application_cursor: false, bracketed_paste: false };
  const cursor = { row: 0, col: 0, visible: true };
  const size = { cols: 10, rows: lines.length };
  return { offset: 10, ...size, exact: true, cursor, title: "", alternate: false, lines, modes };
}

function fakeScreens(before: ScreenText | Fault): Screens {
  return {
    text: async (_feed, at) => {
      if (at === undefined) return NOW;
      if (before instanceof Fault) throw before;
      return before;
    },
    state: () => Promise.reject(new Error("nobody asks for it")),
    [Symbol.asyncDispose]: async () => undefined,
  };
}
