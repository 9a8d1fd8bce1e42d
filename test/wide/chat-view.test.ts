import { expect, test } from "vitest";
import { openChatPane, READY, seenFrom } from "#test/harness/chat.ts";
import { keepReins } from "#test/harness/kept-reins.ts";

const { lease } = keepReins();

test("an answer is shown as what its Markdown means, at 80 columns and at 40", async () => {
  await using reins = await lease();
  using chat = await openChatPane(reins);
  const { pane } = chat;
  pane.enter("reins run team.yaml");
  await pane.shows(/^ready \|/m);
  expect(seenFrom(pane, "· Be")).toBe(["· Be welcome.", "", ">", READY].join("\n"));
  pane.enter("markdown please");
  await pane.shows(/屏幕弄乱。[\s\S]*ready/);
  expect(seenFrom(pane, "> markdown")).toBe(
    [
      ...["> markdown please", "", "# Plan", ""],
      ...["Read all of it, see the page (https://example.org/a).", ""],
      ...["• one", "• two", "", "    make", "", "    make check", "", "│ said so", ""],
      "这是一段用来检查宽度的中文文字，它比一行要长得多，所以必须在右边缘正确地折行，不",
      ...["能把屏幕弄乱。", "", ">", READY],
    ].join("\n"),
  );
  pane.resize(40, 24);
  await pane.shows(/^ready \| root \| scripted\/main \| [^\n]*…$/m);
  pane.enter("今天的天气怎么样？今天的天气怎么样？今天的天气怎么样？");
  await pane.shows(/Later\.\n\n>\nready/);
  expect(seenFrom(pane, "> 今天")).toMatch(
    /^> 今天的天气怎么样？今天的天气怎么样？今\n {2}天的天气怎么样？\n\nLater\.\n\n>\nready/,
  );
});

test("a question is a form, and a wrong answer is asked again", async () => {
  await using reins = await lease();
  using chat = await openChatPane(reins);
  const { pane } = chat;
  pane.enter("reins run team.yaml");
  await pane.shows(/^ready \|/m);
  pane.enter("ask me");
  await pane.shows("Enter answers, Esc declines");
  expect(seenFrom(pane, "? Which")).toMatch(/Choice\n {2}1\. red\n {2}2\. blue\nEnter answers/);
  pane.enter("green");
  await pane.shows("type one of them, or its number (1 to 2)");
  pane.press("C-u");
  pane.enter("2");
  await pane.shows(/Blue it is\.\n\n>/);
});

test("commands with a slash show what there is", async () => {
  await using reins = await lease();
  using chat = await openChatPane(reins);
  const { pane } = chat;
  pane.enter("reins run team.yaml");
  await pane.shows(/^ready \|/m);
  pane.enter("/tools");
  const tools = await pane.shows(/· read_file: Read a text file[\s\S]*user_prompt: Ask the person/);
  expect(tools).toContain("  write_file: ");
  pane.enter("/model");
  await pane.shows("· * main (scripted)");
  pane.enter("/agent");
  await pane.shows("· * root: Leads.");
  pane.enter("/agent nobody");
  await pane.shows(/· .*nobody/);
  pane.enter("/nonsense");
  await pane.shows("· there is no /nonsense; /help lists what there is");
  pane.enter("/sessions");
  await pane.shows(/· \* ses_\w+ agent running/);
  pane.enter("/compact");
  await pane.shows(/the history was (not )?made shorter/i);
  pane.enter("/help");
  await pane.shows("Esc interrupts; Ctrl-O unfolds calls of tools; Ctrl-D leaves");
  pane.enter("/detach");
  await pane.shows(/reins: left; ses_\w+ goes on/);
});

test("calls are one line each until somebody unfolds them", async () => {
  await using reins = await lease();
  using chat = await openChatPane(reins);
  const { pane } = chat;
  pane.enter("reins run team.yaml --safety autonomous");
  await pane.shows(/^ready \|/m);
  pane.enter("write it");
  await pane.shows(/It is written\.\n\n>/);
  expect(pane.screen()).not.toContain('"content"');
  pane.press("C-o");
  await pane.shows(/✓ write_file [\d.]+s .*\n {4}\{\n {6}"path": "note.txt",\n {6}"content"/);
});
