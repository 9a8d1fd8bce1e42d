import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { CHAT_TEAM } from "#test/harness/chat.ts";
import { openPageWorld } from "#test/harness/page-world.ts";

const MANY = Array.from({ length: 60 }, (_, at) => `line ${at}`).join("\n\n");

test("the focus is where a person types next: in a form, in the composer, in a dialog", async () => {
  await using world = await openPageWorld();
  const { door, host } = world;
  const { session_id } = await door.get("agent.create", {
    source: { kind: "inline", yaml: CHAT_TEAM },
    working_dir: host.dataDir,
  });
  await using visit = await world.visit();
  const { page } = visit;
  await page.getByRole("treegrid", { name: "Sessions" }).waitFor();
  await page.keyboard.press("n");
  await page.keyboard.press("s");
  await focusIs(page, page.getByRole("combobox", { name: "Directory" }));
  await page.getByRole("link", { name: "Command" }).click();
  await focusIs(page, page.getByRole("textbox", { name: "Command line" }));
  await page.getByRole("link", { name: "Agent", exact: true }).click();
  await focusIs(page, page.getByRole("textbox", { name: "First message" }));
  await visit.goTo(`/s/${session_id}`);
  await focusIs(page, page.getByRole("textbox", { name: "Message" }));
  await page.keyboard.type("slowly please");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("Once upon a time.").waitFor();
  await focusIs(page, page.getByRole("textbox", { name: "Message into the turn" }));
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Send" }).waitFor();
  await page.getByRole("button", { name: "Session menu" }).click();
  await page.getByRole("menuitem", { name: "Close" }).click();
  await focusIs(page, page.getByRole("button", { name: "Cancel" }));
  await page.keyboard.press("Escape");
});

test("a reader who has gone up jumps to the latest, and sees how many came meanwhile", async () => {
  await using world = await openPageWorld();
  const { door, host } = world;
  const { session_id } = await door.get("agent.create", {
    source: { kind: "inline", yaml: CHAT_TEAM },
    working_dir: host.dataDir,
  });
  const say = async (content: string) => {
    await door.get("agent.send", { session_id, messages: [{ content }] });
    await door.get("session.wait", { session_id, for: "idle", idle_ms: 100, timeout_ms: 30_000 });
  };
  await say(`markdown ${MANY}`);
  await using visit = await world.visit({ path: `/s/${session_id}` });
  const { page } = visit;
  const talk = page.getByRole("region", { name: "Conversation" });
  await talk.getByRole("heading", { name: "Plan" }).waitFor();
  const style = await page.evaluate(
    "getComputedStyle(document.querySelector('[aria-label=Conversation] ul > li')).listStyleType",
  );
  expect(style).toBe("disc");
  const jump = page.getByRole("button", { name: /^Jump to latest/ });
  expect(await jump.count()).toBe(0);
  await talk.hover();
  await page.mouse.wheel(0, -2000);
  await jump.waitFor();
  expect(await jump.textContent()).toBe("Jump to latest");
  await say("hurry");
  await page.getByRole("button", { name: "Jump to latest (2 new)" }).click();
  await jump.waitFor({ state: "hidden" });
});

async function focusIs(page: Page, control: Locator): Promise<void> {
  await control.and(page.locator(":focus")).waitFor();
}
