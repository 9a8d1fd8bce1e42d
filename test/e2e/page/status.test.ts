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
