import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WorkspaceId } from "#contract/ids.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openScreenSetting, openScreensOf } from "#test/harness/screen-setting.ts";
import { createScreenOperations } from "./screen.ts";

const MIB = 1024 * 1024;

/** One for the tests that only look at a session of their own. */
let setting: Awaited<ReturnType<typeof openScreenSetting>>;
beforeAll(async () => {
  setting = await openScreenSetting();
});
afterAll(async () => await setting[Symbol.asyncDispose]());

test("shows what stands on a terminal, as text and as a state to paint", async () => {
  const { session_id } = await setting.open(
    "printf '\\033]0;my title\\007plain \\033[1;31mred\\033[0m 漢字\\r\\nsecond'; read x",
  );
  const text = await waitFor("both lines", async () => {
    const screen = await setting.screen({ session_id });
    return "lines" in screen && screen.lines[1] === "second" && screen;
  });
  expect(text).toMatchObject({
    cols: 80,
    rows: 24,
    exact: true,
    alternate: false,
    title: "my title",
    cursor: { row: 1, col: 6, visible: true },
  });
  expect(text.lines.slice(0, 3)).toEqual(["plain red 漢字", "second", ""]);
  const state = await setting.screen({ session_id, format: "state" });
  expect("state" in state && state.state).toContain("\x1b[0;1;31mred");
});

test("goes back to an earlier offset, also in the size of that time", async () => {
  const { session_id } = await setting.open("printf first; read x; printf second; read x");
  await setting.until(session_id, "first");
  await setting.host.operations["session.resize"]({ session_id, cols: 40, rows: 10 });
  expect(await setting.screen({ session_id })).toMatchObject({ cols: 40, rows: 10, offset: 5 });
  await setting.host.operations["session.resize"]({ session_id, cols: 100, rows: 30 });
  expect(await setting.screen({ session_id })).toMatchObject({ cols: 100, rows: 30, offset: 5 });
  await setting.host.operations["session.input"]({ session_id, data: "\n" });
  await setting.until(session_id, "second");
  expect(await setting.screen({ session_id, at: 3 })).toMatchObject({
    cols: 80,
    rows: 24,
    offset: 3,
    lines: expect.arrayContaining(["fir"]),
  });
  expect(await setting.screen({ session_id })).toMatchObject({ cols: 100, rows: 30 });
});

test("stops before a sequence or character that is not finished", async () => {
  const { session_id } = await setting.open(
    "printf 'ab\\303'; read x; printf '\\251\\033[3'; read x",
  );
  await setting.until(session_id, "ab");
  const unfinished = () => setting.screen({ session_id, format: "state" });
  await waitFor("the first byte of é", async () => (await setting.tail(session_id)) === 3);
  expect(await unfinished()).toMatchObject({ offset: 2 });
  await setting.host.operations["session.input"]({ session_id, data: "\n" });
  const tail = await waitFor("the rest", async () => {
    const now = await setting.tail(session_id);
    return now >= 7 && now;
  });
  expect(await unfinished()).toMatchObject({ offset: tail - 3 });
});

test("shows what a command printed to its pipes, line by line", async () => {
  const { session_id } = await setting.host.create({
    kind: "command",
    argv: ["/bin/sh", "-c", "echo one; echo two >&2"],
  });
  await setting.host.output(session_id);
  const screen = await setting.screen({ session_id });
  expect("lines" in screen && screen.lines.slice(0, 3).toSorted()).toEqual(["", "one", "two"]);
});

test("refuses what it cannot draw, and says why", async () => {
  const { session_id } = await setting.open("printf x; read x", { cols: 4096, rows: 4096 });
  await waitFor("its byte", async () => (await setting.tail(session_id)) === 1);
  await expect(setting.screen({ session_id })).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("1000 x 500"),
  });
  await setting.host.operations["session.resize"]({ session_id, cols: 80, rows: 24 });
  expect(await setting.screen({ session_id })).toMatchObject({ cols: 80, rows: 24 });
  await expect(setting.screen({ session_id, at: 1_000_000 })).rejects.toMatchObject({
    code: "offset_out_of_range",
    details: { tail: 1 },
  });
});

test("hides the screen of a foreign workspace", async () => {
  const { session_id } = await setting.open("read x");
  const workspaces = [WorkspaceId.parse("wsp_0000000000000001")];
  const foreign = createScreenOperations(setting, createTestCaller({ workspaces }));
  await expect(foreign["session.screen"]({ session_id })).rejects.toMatchObject({
    code: "session_not_found",
  });
});

test("lays a checkpoint down beside the log, and goes on from it in another process", async () => {
  const { session_id } = await setting.open(
    "printf '\\033[2004h\\033]2;kept\\007'; yes 'some words to fill it' | head -c 9000000; printf DONE; read x",
  );
  await setting.until(session_id, "DONE");
  const before = await setting.screen({ session_id, format: "state" });
  const file = join(setting.host.sessions, session_id, "screen.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const { offset } = JSON.parse(readFileSync(file, "utf8"));
  expect(offset).toBeGreaterThanOrEqual(8 * MIB);
  // With the start of the log gone, only the checkpoint can know the title.
  rmSync(join(setting.host.sessions, session_id, "output", "0".repeat(16)));
  await using next = openScreensOf(setting.host);
  expect(await next.screen({ session_id, format: "state" })).toEqual(before);
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), format: 99 }));
  await using third = openScreensOf(setting.host);
  expect(await third.screen({ session_id })).toMatchObject({ exact: false });
});
