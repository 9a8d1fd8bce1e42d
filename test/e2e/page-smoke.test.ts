import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CHAT_TEAM } from "#test/harness/chat.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openPageWorld, screenShows } from "#test/harness/page-world.ts";

/** One visit to the real page; `npm run test:page` tests each view in full. */
test("the page shows the sessions, types into a terminal, talks to an agent and answers its approval", async () => {
  await using world = await openPageWorld();
  const { door, host } = world;
  const { session_id } = await door.get("session.create", {
    kind: "terminal",
    argv: ["bash", "--norc", "--noprofile"],
  });
  const agent = await door.get("agent.create", {
    source: { kind: "inline", yaml: CHAT_TEAM },
    working_dir: host.dataDir,
  });
  await using visit = await world.visit();
  const { page } = visit;
  const rows = page.getByRole("treegrid", { name: "Sessions" }).getByRole("row");
  await waitFor("a row for each session", async () => (await rows.count()) >= 2);
  await visit.goTo(`/s/${session_id}`);
  await page.getByRole("region", { name: "Terminal" }).waitFor();
  // The host knows of it before the page does, and until then no key is typed.
  await page.getByText("You have control", { exact: true }).waitFor();
  await page.keyboard.type("echo sum-$((40 + 2))\n");
  await screenShows(page, /^sum-42$/m);
  await visit.goTo(`/s/${agent.session_id}`);
  await page.getByRole("textbox", { name: "Message" }).fill("please write");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Approve once" }).click();
  const talk = page.getByRole("region", { name: "Conversation" });
  await talk.getByText("It is written.").first().waitFor();
  expect(readFileSync(join(host.dataDir, "note.txt"), "utf8")).toBe("noted\n");
});
