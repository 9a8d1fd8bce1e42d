import { expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { openPageWorld } from "#test/harness/page-world.ts";

test("a session is shown by its name in list, rail, header, tab and palette, and renaming sets and clears it", async () => {
  await using world = await openPageWorld();
  const { door } = world;
  const sleep = { kind: "command", argv: ["sleep", "1000"] } as const;
  const create = (fields: object) =>
    door.get("session.create", { ...sleep, argv: [...sleep.argv], ...fields });
  await create({ name: "taken", title: "The first" });
  const { session_id } = await create({ title: "Nightly build" });
  const nameNow = async () => (await door.get("session.get", { session_id })).name;
  // The browser reports the refused request itself.
  await using visit = await world.visit({ path: "/", expected: /status of 4(?:00|09)/ });
  const { page } = visit;
  const row = page.getByRole("row").filter({ hasText: "Nightly build" });
  await page.getByRole("row").filter({ hasText: "taken The first" }).waitFor();

  await row.getByRole("button", { name: "Menu of Nightly build" }).click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  const dialog = page.getByRole("dialog", { name: "Rename the session" });
  const field = dialog.getByRole("textbox", { name: "Name" });
  const rename = dialog.getByRole("button", { name: "Rename" });
  await field.fill("taken");
  await rename.click();
  await dialog.getByText("the name taken is taken in this workspace").waitFor();
  expect([await field.getAttribute("aria-invalid"), await nameNow()]).toEqual(["true", null]);
  await field.fill("Not A Name");
  await rename.click();
  await dialog.getByText(/^a name is a lower-case letter/).waitFor();
  await field.fill("nightly");
  await rename.click();
  await dialog.waitFor({ state: "hidden" });
  expect(await nameNow()).toBe("nightly");
  await page.getByRole("row").filter({ hasText: "nightly Nightly build" }).waitFor();

  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Palette" });
  await palette.getByRole("combobox").fill("nightly");
  await palette.getByRole("option", { name: "nightly · Nightly build" }).click();
  await page.getByRole("heading", { level: 1, name: "nightly Nightly build" }).waitFor();
  await waitFor("the tab's title", async () => (await page.title()) === "nightly · Reins");
  const rail = page.getByRole("complementary", { name: "Sessions" });
  await rail.getByRole("link", { name: /^nightly Nightly build/ }).waitFor();
  await rail.getByRole("searchbox", { name: "Search in the rail" }).fill("nightly");
  await waitFor("one found", async () => (await rail.getByRole("link").count()) === 1);

  await page.getByRole("button", { name: "Session menu" }).click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await field.fill("");
  await rename.click();
  await dialog.waitFor({ state: "hidden" });
  await page.getByRole("heading", { level: 1, name: "Nightly build", exact: true }).waitFor();
  expect(await nameNow()).toBeNull();
  // A change through another client is shown as well.
  await door.get("session.update", { session_id, name: "weekly" });
  await waitFor("the new name", async () => (await page.title()) === "weekly · Reins");
});
