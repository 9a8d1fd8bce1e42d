import { afterAll, expect, test } from "vitest";
import { openChatPane } from "#test/harness/chat.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import type { Reins } from "#test/harness/reins.ts";

const { lease } = keepReins();

/** One for the tests that look at the same session. */
let shared: Reins | undefined;
afterAll(() => shared?.[Symbol.asyncDispose]());

test.each([
  { set: "NO_COLOR=1", has: false },
  { set: "NO_COLOR=", has: true },
  { set: "CI=true NO_COLOR=", has: true },
])("with $set there are colours: $has", async ({ set, has }) => {
  const isFirst = shared === undefined;
  shared ??= await lease();
  using chat = await openChatPane(shared);
  const { pane } = chat;
  pane.enter(`${set} reins ${isFirst ? "run team.yaml" : "attach"}`);
  if (isFirst) {
    await pane.shows(/^ready \|/m);
    pane.enter("markdown please");
    await pane.shows(/said so[\s\S]*ready/);
    pane.enter("please write");
  }
  await pane.shows("[y] once");
  expect(pane.hasColor()).toBe(has);
});

test("what a model says cannot control the terminal", async () => {
  await using reins = await lease();
  using chat = await openChatPane(reins);
  const { pane } = chat;
  pane.enter("NO_COLOR=1 reins run team.yaml");
  await pane.shows(/^ready \|/m);
  const title = pane.title();
  pane.enter("be hostile");
  const screen = await pane.shows(/evil[\s\S]*ready/);
  expect(screen).toMatch(/^> be hostile\n\n \[2J \]0;owned evil \[31m/m);
  expect(pane.title()).toBe(title);
  expect(pane.hasColor()).toBe(false);
});

test("a terminal that cannot be drawn on gets lines", async () => {
  await using reins = await lease();
  using chat = await openChatPane(reins);
  const { pane } = chat;
  pane.enter("TERM=dumb reins run team.yaml");
  await pane.shows(/^Be welcome\.\n>$/m);
  pane.enter("hello");
  await pane.shows(/^Later\.\n>$/m);
});
