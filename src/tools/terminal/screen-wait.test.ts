import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { openPatterns } from "#app/read/patterns.ts";
import { openWaitEnding } from "#app/read/wait-scan.ts";
import type { Screens } from "#screen/screens.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { exitedState, openWrittenSession, WRITTEN_SESSION } from "#test/harness/written-session.ts";
import { createScreenWait, type ScreenQuestion } from "./screen-wait.ts";

/** Everything that was printed stands on one line. */
async function openWaits() {
  using stack = new DisposableStack();
  const session = stack.use(openWrittenSession());
  const patterns = stack.use(openPatterns());
  const handle = stack.use(await session.hosts.of(WRITTEN_SESSION).open(WRITTEN_SESSION));
  let drawn = 0;
  const screens: Screens = {
    text: async ({ output }) => {
      drawn += 1;
      const chunk = output.read(0, { limit: 1000, tail: handle.tail });
      const line = chunk?.kind === "bytes" ? Buffer.from(chunk.bytes).toString() : "";
      return {
        ...{ offset: handle.tail, cols: 80, rows: 1, exact: true, title: "", alternate: false },
        cursor: { row: 0, col: line.length, visible: true },
        lines: [line],
        modes: { application_cursor: false, bracketed_paste: false },
      };
    },
    state: () => Promise.reject(new Error("nobody asks for it")),
    [Symbol.asyncDispose]: async () => undefined,
  };
  const deps = { screens, patterns, clock: session.clock };
  const owned = stack.move();
  return {
    session,
    get drawn() {
      return drawn;
    },
    async wait(question: ScreenQuestion, timeoutMs = 60_000) {
      using ending = openWaitEnding(session.clock, timeoutMs, undefined);
      const wait = await createScreenWait(deps, question);
      return await wait({ deps, handle, ending, signal: undefined });
    },
    [Symbol.dispose]: () => owned.dispose(),
  };
}

test("however often something is printed, the screen is drawn each 50 ms at most", async () => {
  using waits = await openWaits();
  const { session } = waits;
  const found = waits.wait({ for: "text", text: "done" });
  await waitFor("the first look", () => waits.drawn === 1);
  for (const part of ["a", "b", "c", "do", "ne"]) {
    session.print(part);
    await setImmediate();
  }
  session.clock.advance(49);
  await setImmediate();
  expect(waits.drawn).toBe(1);
  session.clock.advance(1);
  expect(await found).toMatchObject({ matched: true, sight: { screen: { lines: ["abcdone"] } } });
  expect(waits.drawn).toBe(2);
});

test("what stands there already is found at once, without time to wait", async () => {
  using waits = await openWaits();
  waits.session.print("ready");
  expect(await waits.wait({ for: "text", text: "ready" }, 0)).toMatchObject({ matched: true });
  expect(await waits.wait({ for: "regex", pattern: "^r.*y$" }, 0)).toMatchObject({ matched: true });
  expect(await waits.wait({ for: "text", text: "never" }, 0)).toMatchObject({ matched: false });
});

test("who can print no more is not waited for", async () => {
  using waits = await openWaits();
  const { session } = waits;
  const never = waits.wait({ for: "text", text: "never" });
  await waitFor("the first look", () => waits.drawn === 1);
  session.print("end");
  session.enter(exitedState(3, { final: true }));
  session.clock.advance(50);
  await setImmediate();
  session.clock.advance(50);
  expect(await never).toMatchObject({ matched: false, sight: { screen: { lines: ["end"] } } });
  for (const kind of ["idle", "exit"] as const)
    expect(await waits.wait({ for: kind })).toMatchObject({ matched: true });
});

test("silence counts from the last output, and a wait for it ends in time", async () => {
  using waits = await openWaits();
  const { session } = waits;
  const idle = waits.wait({ for: "idle", idle: 1000 });
  await waitFor("the wait", () => session.clock.timers === 2);
  session.clock.advance(999);
  session.print("x");
  await setImmediate();
  session.clock.advance(999);
  await setImmediate();
  expect(waits.drawn).toBe(0);
  session.clock.advance(1);
  expect(await idle).toMatchObject({ matched: true });
  const late = waits.wait({ for: "idle", idle: 1000 }, 500);
  await waitFor("the wait", () => session.clock.timers === 2);
  session.clock.advance(500);
  expect(await late).toMatchObject({ matched: false });
});

test.each([
  { for: "text", text: "x" },
  { for: "regex", pattern: "x" },
  { for: "idle" },
  { for: "exit" },
] as const)("when the host goes, a wait for $for says so", async (question) => {
  using waits = await openWaits();
  const { session } = waits;
  const waiting = expect(waits.wait(question)).rejects.toMatchObject({ code: "host_unavailable" });
  await waitFor("the wait", () => session.clock.timers > 0);
  session.leave();
  await setImmediate();
  session.clock.advance(50);
  await waiting;
});
