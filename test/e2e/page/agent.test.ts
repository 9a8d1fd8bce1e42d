import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { PHONE } from "#test/harness/browser.ts";
import { CHAT_TEAM } from "#test/harness/chat.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openPageWorld, type PageWorld } from "#test/harness/page-world.ts";

async function createAgent({ door, host }: PageWorld): Promise<string> {
  const { session_id } = await door.get("agent.create", {
    source: { kind: "inline", yaml: CHAT_TEAM },
    working_dir: host.dataDir,
  });
  return session_id;
}

test("an approval is answered on a phone: once, and refused with a reason", async () => {
  await using world = await openPageWorld();
  const sessionId = await createAgent(world);
  const note = join(world.host.dataDir, "note.txt");
  await using visit = await world.visit({
    path: `/s/${sessionId}`,
    viewport: PHONE,
    hasTouch: true,
  });
  const { page } = visit;
  await heard(page, "Be welcome.");
  const write = async () => {
    await page.getByRole("textbox", { name: "Message" }).fill("please write");
    await page.getByRole("button", { name: "Send" }).tap();
    await page.getByRole("region", { name: "The agent needs an answer" }).waitFor();
  };
  await write();
  await waitFor("a title that counts it", async () => (await page.title()).startsWith("(1)"));
  const asked = page.getByRole("region", { name: "The agent needs an answer" });
  expect(await asked.textContent()).toContain("note.txt");
  // All of it can be reached by a finger: nothing is wider than the phone.
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(PHONE.width);
  await asked.getByRole("textbox", { name: "Reason for rejecting" }).fill("not there, please");
  await asked.getByRole("button", { name: "Reject" }).tap();
  await heard(page, "It was refused.");
  expect(existsSync(note)).toBe(false);
  await write();
  await asked.getByRole("button", { name: "Approve once" }).tap();
  await heard(page, "It is written.");
  expect(readFileSync(note, "utf8")).toBe("noted\n");
  const { approvals } = await world.door.get("agent.snapshot", { session_id: sessionId });
  expect(approvals).toEqual([]);
});

test("an agent is steered while it works, asked, interrupted and forked", async () => {
  await using world = await openPageWorld();
  const sessionId = await createAgent(world);
  await using visit = await world.visit({ path: `/s/${sessionId}` });
  const { page } = visit;
  const say = async (text: string) => {
    await page.getByRole("textbox", { name: /^Message/ }).fill(text);
    await page.keyboard.press("Enter");
  };
  await say("slowly please");
  await heard(page, "Once upon a time.");
  expect(await page.locator("main strong", { hasText: "upon" }).count()).toBe(1);
  await page.getByRole("button", { name: "Interrupt" }).click();
  await page.getByRole("button", { name: "Send" }).waitFor();
  await say("write it now");
  const asked = page.getByRole("region", { name: "The agent needs an answer" });
  await asked.waitFor();
  await say("hurry my day");
  const waiting = page.getByRole("list", { name: "Waits for the agent" });
  await waiting.getByText("hurry my day").waitFor();
  await asked.getByRole("button", { name: "Approve once" }).click();
  await heard(page, "Faster now.");
  await waiting.waitFor({ state: "hidden" });
  await say("ask me");
  await heard(page, "Which colour?");
  await asked.getByRole("radio", { name: "blue" }).check();
  await asked.getByRole("button", { name: "Accept" }).click();
  await heard(page, "Blue it is.");
  const before = page.url();
  await page.getByRole("button", { name: "Fork after this answer" }).last().click();
  await page.waitForURL((url) => url.href !== before);
  await heard(page, "Blue it is.");
});

test("what a model says is Markdown and never HTML", async () => {
  await using world = await openPageWorld();
  const sessionId = await createAgent(world);
  await using visit = await world.visit({ path: `/s/${sessionId}` });
  const { page } = visit;
  await page.getByRole("textbox", { name: "Message" }).fill("markdown <b>please</b>");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Plan" }).waitFor();
  await heard(page, "<b>please</b>");
  await heard(page, "make check");
  await page.getByRole("textbox", { name: "Message" }).fill("be hostile");
  await page.keyboard.press("Enter");
  await heard(page, /evil/);
  expect(await page.locator("main a[href^=javascript]").count()).toBe(0);
});

/** In the conversation: the list beside it may say the same. */
async function heard(page: Page, text: string | RegExp): Promise<void> {
  const talk = page.getByRole("region", { name: "Conversation" });
  await talk.getByText(text).first().waitFor();
}
