import { expect, test } from "vitest";
import { openChatPane } from "#test/harness/chat.ts";
import { openReins } from "#test/harness/reins.ts";

/** Sets a colour, of the text or behind it. */
const COLOUR = /\u001b\[(?:\d+;)*(?:[34][0-8]|9[0-7]|10[0-7])[;m]/;

test.concurrent.each([
  { set: "NO_COLOR=1", has: false },
  { set: "NO_COLOR=", has: true },
  { set: "CI=true NO_COLOR=", has: true },
])("with $set there are colours: $has", async ({ set, has }) => {
  await using reins = await openReins();
  using chat = await openChatPane(reins);
  const { pane } = chat;
  pane.enter(`${set} reins run team.yaml`);
  await pane.shows(/^ready \|/m);
  pane.enter("markdown please");
  await pane.shows(/said so[\s\S]*ready/);
  pane.enter("please write");
  await pane.shows("[y] once");
  expect(COLOUR.test(pane.styled())).toBe(has);
});

test.concurrent("what a model says cannot control the terminal", async () => {
  await using reins = await openReins();
  using chat = await openChatPane(reins);
  const { pane } = chat;
  pane.enter("NO_COLOR=1 reins run team.yaml");
  await pane.shows(/^ready \|/m);
  const title = pane.ask("#{pane_title}");
  pane.enter("be hostile");
  const screen = await pane.shows(/evil[\s\S]*ready/);
  expect(screen).toMatch(/^> be hostile\n\n \[2J \]0;owned evil \[31m/m);
  expect(pane.ask("#{pane_title}")).toBe(title);
  expect(COLOUR.test(pane.styled())).toBe(false);
});

test.concurrent("a terminal that cannot be drawn on gets lines", async () => {
  await using reins = await openReins();
  using chat = await openChatPane(reins);
  const { pane } = chat;
  pane.enter("TERM=dumb reins run team.yaml");
  await pane.shows(/^Be welcome\.\n>$/m);
  pane.enter("hello");
  await pane.shows(/^Later\.\n>$/m);
});
