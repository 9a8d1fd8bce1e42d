import { expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { openPageWorld } from "#test/harness/page-world.ts";

/** So many that the first one is far from drawn when the last one is seen. */
const SESSIONS = 60;

test("the focus in the rail stays on its row however far that is scrolled away, and the keys go on from it", async () => {
  await using world = await openPageWorld();
  const made = [];
  for (let at = 0; at < SESSIONS; at += 1)
    made.push(await world.door.get("session.create", { kind: "command", argv: ["true"] }));
  await using visit = await world.visit({ path: `/s/${made.at(-1)?.session_id}` });
  const { page } = visit;
  // Before the sessions are known the rail does not say that there are none.
  const held = Promise.withResolvers<void>();
  await page.route("**/v1/sessions?*", async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.reload();
  await page.getByText("Loading sessions…").waitFor();
  expect(await page.getByText(/^No (?:matching )?sessions/).count()).toBe(0);
  held.resolve();
  const list = page.getByRole("list").filter({ has: page.locator("[data-row]") });
  await list.locator('[data-row="0"] a').focus();
  await page.keyboard.press("ArrowDown");
  const focused = () => list.locator("[data-row]:focus-within").getAttribute("data-row");
  expect(await focused()).toBe("1");
  const rowIsDrawn = (row: number) => list.locator(`[data-row="${row}"]`).count();
  await list.hover();
  await page.mouse.wheel(0, 100_000);
  await waitFor("the end of the list", () => rowIsDrawn(SESSIONS - 1));
  expect([await rowIsDrawn(0), await focused()]).toEqual([0, "1"]);
  await page.keyboard.press("ArrowDown");
  await waitFor("the next row", async () => (await focused()) === "2");
  expect(await rowIsDrawn(SESSIONS - 1)).toBe(0);
  await page.keyboard.press("End");
  await waitFor("the last row", async () => (await focused()) === String(SESSIONS - 1));
  expect(await rowIsDrawn(2)).toBe(0);
});
