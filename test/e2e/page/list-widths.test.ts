import { expect, test } from "vitest";
import { CHAT_TEAM } from "#test/harness/chat.ts";
import { openPageWorld } from "#test/harness/page-world.ts";

const WIDTHS = [390, 640, 820, 899, 900, 1280];
const NAME_PX = 120;
const TITLE = "a title of some length";

test("every row shows its title and its menu, whatever columns there are and however wide it is", async () => {
  await using world = await openPageWorld();
  const { door, host } = world;
  const wrong: string[] = [];
  await door.get("session.create", { kind: "terminal", argv: ["cat"], title: TITLE });
  await using visit = await world.visit();
  const { page } = visit;
  const check = async (what: string) => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      await page.locator(`[data-narrow="${width < 900}"]`).waitFor();
      for (const row of await page
        .getByRole("row")
        .filter({ has: page.getByRole("link") })
        .all()) {
        const name = await row.getByRole("link").boundingBox();
        const menu = await row.getByRole("button", { name: /^Menu of/ }).boundingBox();
        if ((name?.width ?? 0) < NAME_PX)
          wrong.push(`${what} at ${width}: a name of ${name?.width}`);
        if ((menu?.x ?? width) + (menu?.width ?? 1) > width)
          wrong.push(`${what} at ${width}: no menu`);
      }
    }
  };
  const columns = (agents: boolean, workspaces: boolean) =>
    page.locator(`[data-agents="${agents}"][data-workspaces="${workspaces}"]`).waitFor();
  await columns(false, false);
  await check("one workspace, no agent");
  await door.get("workspace.create", { name: "second" });
  await page.reload();
  await columns(false, true);
  await check("two workspaces, no agent");
  await door.get("agent.create", {
    source: { kind: "inline", yaml: CHAT_TEAM },
    working_dir: host.dataDir,
    title: TITLE,
  });
  await columns(true, true);
  await check("two workspaces, an agent");
  expect(wrong).toEqual([]);
});
