import { expect, test } from "vitest";
import { openChatPane, seenFrom } from "#test/harness/chat.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { keepReins } from "#test/harness/kept-reins.ts";

const { lease } = keepReins();

test("a view of an agent on a server outlives the server, and nothing is lost or doubled", async () => {
  await using reins = await lease();
  using chat = await openChatPane(reins);
  const { pane } = chat;
  await using first = await openGatewayProcess({ dataDir: reins.home });
  const { port } = first;
  const url = `http://127.0.0.1:${port}`;
  pane.enter(`clear; reins run team.yaml --remote ${url}`);
  await pane.shows(/^ready \|/m);
  pane.enter("please write");
  await pane.shows("[y] once");
  await first.kill("SIGKILL");
  await using _second = await openGatewayProcess({ dataDir: reins.home, port });
  pane.press("y");
  await pane.shows(/It is written\.\n\n>\nready/);
  const before = seenFrom(pane, "> please");
  expect(before.split("It is written.").length).toBe(2);
  pane.press("C-d");
  // As it is wrapped here.
  const back = new RegExp(`reins attach ses_\\w+\\s+--remote\\s+${url}\\s+comes\\s+back`);
  await pane.shows(back);
  await pane.prompts("out$");
  pane.enter(`clear; reins attach --remote ${url}`);
  await pane.shows(/It is written\.\n\n>\nready/);
  pane.enter("hello");
  await pane.shows(/> hello\n\nLater\.\n\n>\nready/);
  pane.enter("/detach");
  await pane.shows(back);
  const refused = await reins.run(["attach", "--remote", url]);
  expect([refused.code, refused.stderr]).toEqual([12, expect.stringContaining("needs a terminal")]);
});
