import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openChatPane, READY, seenFrom } from "#test/harness/chat.ts";
import { keepReins } from "#test/harness/kept-reins.ts";

const { lease } = keepReins();

test("approvals are answered in place, and who types is heard meanwhile", async () => {
  await using reins = await lease();
  using chat = await openChatPane(reins);
  const { pane } = chat;
  const note = join(reins.path, "note.txt");
  pane.enter("reins run team.yaml");
  await pane.shows(/^ready \|/m);
  pane.enter("please write");
  await pane.shows("[y] once");
  const asked = [
    ...["> please write", ""],
    "? Approval needed: balanced mode asks before file changes and commands.",
    ...["  write_file {", '    "path": "note.txt",', '    "content": "noted\\n"', "  }"],
  ];
  expect(seenFrom(pane, "> please")).toBe(
    [
      ...asked,
      ...["◌ write_file needs approval path=note.txt content=noted", ""],
      "allow write_file? [y] once, [t] this tool, [s] all of this session, [n] no",
      "waiting for an answer | root | scripted/main | N in, N out",
    ].join("\n"),
  );
  pane.press("n");
  await pane.shows("why not?");
  pane.enter("yes, but later");
  await pane.shows(/It was refused\.\n\n>/);
  expect(seenFrom(pane, "> please")).toBe(
    [
      ...asked,
      "· write_file is refused: yes, but later",
      "✗ write_file N.Ns path=note.txt content=noted → The user rejected this call: ye…",
      ...["", "It was refused.", "", ">", READY],
    ].join("\n"),
  );
  expect(existsSync(note)).toBe(false);
  pane.enter("write it now");
  await pane.shows("[y] once");
  // The first letter is no answer, so it begins a message; with that the keys are no answers.
  pane.enter("hurry my day");
  await pane.shows(">> hurry my day (at its next step)");
  await pane.shows("[y] once");
  pane.press("y");
  await pane.shows(/Faster now\.\n\n>/);
  expect(seenFrom(pane, "· write_file is allowed")).toBe(
    [
      "· write_file is allowed once",
      "✓ write_file N.Ns path=note.txt content=noted → wrote note.txt, a new file of 6…",
      ...["", ">> hurry my day", "", "Faster now.", "", ">", READY],
    ].join("\n"),
  );
  expect(existsSync(note)).toBe(true);
});

test("Esc interrupts, Tab queues, and what was said so far stays", async () => {
  await using reins = await lease();
  using chat = await openChatPane(reins);
  const { pane } = chat;
  pane.enter("reins run team.yaml");
  await pane.shows(/^ready \|/m);
  pane.enter("speak slowly");
  await pane.shows("Then she");
  pane.type("and after that?");
  pane.press("Tab");
  await pane.shows("> and after that? (when it is done)");
  expect(seenFrom(pane, "> speak")).toBe(
    [
      ...["> speak slowly", "", "Once upon a time.", "", "Then she"],
      ...["> and after that? (when it is done)", "", ">"],
      "working, Esc interrupts | 1 queued | root | scripted/main | N in, N out",
    ].join("\n"),
  );
  pane.press("Escape");
  await pane.shows(/Then she\n· The turn was interrupted\./);
  pane.enter("/followup one more");
  await pane.shows(/> and after that\?\n\nLater\.\n\n> one more\n\nLater\.\n\n>\nready/);
});
