import { expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { openPageWorld } from "#test/harness/page-world.ts";

/** A page that is never reloaded says what the host says. */

test("a session that starts while the page is open reaches running, and an agent that sleeps while it asks needs you", async () => {
  await using world = await openPageWorld();
  const { door, host } = world;
  await using visit = await world.visit({ path: "/" });
  const { page } = visit;
  const shows = async (title: string, status: string) => {
    const row = page.getByRole("row").filter({ hasText: title }).first();
    await waitFor(`${title} is ${status}`, async () => {
      const text = (await row.count()) === 0 ? "" : await row.textContent();
      return text?.includes(status);
    });
  };
  await door.get("session.create", { kind: "command", argv: ["sleep", "1000"], title: "sleeper" });
  await shows("sleeper", "running");
  const { session_id } = await host.create({ kind: "agent", argv: ["/bin/cat"], title: "writer" });
  await shows("writer", "starting");
  const tell = async (event: object, eof = false) => {
    const data_b64 = Buffer.from(`${JSON.stringify(event)}\n`).toString("base64");
    await host.client.call("session.input", { session_id, data_b64, eof });
  };
  await tell({ type: "agent.info", name: "root", model: "scripted/echo" });
  await shows("writer", "idle");
  await tell({ type: "turn.started", turn_id: "t" });
  await shows("writer", "working");
  await tell({ type: "approval.requested", approval_id: "a", kind: "tool", message: "May I?" });
  await shows("writer", "needs you");
  await shows("writer", "asks: May I?");
  await tell({ type: "hook.started", hook: "x", command: "y" }, true);
  await waitFor("it sleeps", async () => {
    const { state } = await host.client.call("session.get", { session_id });
    return state.kind === "exited" && state.final;
  });
  await shows("writer", "needs you");
  expect(await page.title()).toMatch(/^\(1\)/);
  const chips = await page.locator("button[aria-pressed]").allInnerTexts();
  expect(chips.map((chip) => chip.replace(/\s+/g, " "))).toEqual(
    expect.arrayContaining(["Live 2", "Ended 0"]),
  );
});

/** The tags of the elements in which the next two changes of the page are. A string: these tests know no DOM. */
const TWO_CHANGES = `new Promise((resolve) => {
  const tags = [];
  new MutationObserver((records) => {
    for (const { target } of records) tags.push((target.tagName ? target : target.parentElement).tagName);
    if (tags.length >= 2) resolve(tags);
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
})`;

test("the header says since when the status holds, by the server's own moments, and a tick redraws only the clock", async () => {
  await using world = await openPageWorld();
  const { host } = world;
  const { session_id } = await host.create({ kind: "agent", argv: ["/bin/cat"], title: "writer" });
  const tell = async (event: object, eof = false) => {
    const data_b64 = Buffer.from(`${JSON.stringify(event)}\n`).toString("base64");
    await host.client.call("session.input", { session_id, data_b64, eof });
  };
  await tell({ type: "agent.info", name: "root", model: "scripted/echo" });
  await using visit = await world.visit({ path: `/s/${session_id}` });
  const { page } = visit;
  const header = page.locator("main header");
  const shows = async (status: RegExp) => {
    await waitFor(`the header shows ${status}`, async () =>
      status.test((await header.textContent()) ?? ""),
    );
  };
  await shows(/idle/);
  expect(await header.locator("time").count()).toBe(0);
  const at = (ageMs: number) => new Date(Date.now() - ageMs).toISOString();
  await tell({ type: "turn.started", turn_id: "t", at: at(3_733_000) });
  await shows(/working for 1:02:\d\d/);
  const changed: readonly string[] = await page.evaluate(TWO_CHANGES);
  expect(new Set(changed)).toEqual(new Set(["TIME"]));
  const asked = at(0);
  const question = {
    type: "approval.requested",
    approval_id: "a",
    kind: "tool",
    message: "May I?",
  };
  await tell({ ...question, at: asked });
  await shows(/needs you since \d/);
  expect(await header.locator("time").getAttribute("datetime")).toBe(asked);
  await tell({ type: "approval.resolved", approval_id: "a" });
  await tell({ type: "turn.ended", turn_id: "t", reason: "done" }, true);
  await shows(/sleeping since \d/);
  const { exited_at } = await host.client.call("session.get", { session_id });
  expect(await header.locator("time").getAttribute("datetime")).toBe(exited_at);
});
