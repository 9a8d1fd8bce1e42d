import { expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { openPageWorld, readScreen, screenShows } from "#test/harness/page-world.ts";

test("a recording is moved through, played, and a link leads to its moment", async () => {
  await using world = await openPageWorld();
  const { session_id } = await world.door.get("session.create", {
    kind: "terminal",
    argv: ["bash", "-c", "for i in 1 2 3 4 5 6; do echo step-$i; sleep 0.3; done"],
  });
  await waitFor("it has ended", async () => {
    const { state } = await world.door.get("session.get", { session_id });
    return state.kind === "exited" && state.final;
  });
  await using visit = await world.visit({ path: `/s/${session_id}/recording` });
  const { page } = visit;
  await page.getByRole("region", { name: "Recording" }).waitFor();
  const slider = page.getByRole("slider", { name: "Moment" });
  const most = Number(await slider.getAttribute("max"));
  expect(most).toBeGreaterThan(1);
  await slider.focus();
  await page.keyboard.press("End");
  await screenShows(page, "step-6");
  // Backwards: what came later is not there any more.
  const jump = page.getByRole("textbox", { name: "Jump to" });
  await jump.fill("0:01");
  await page.getByRole("button", { name: "Jump" }).click();
  await screenShows(page, /step-3(?![\s\S]*step-6)/);
  await page.getByRole("button", { name: "Copy link to this moment" }).click();
  const link: string = await page.evaluate("navigator.clipboard.readText()");
  expect(link).toMatch(/\/recording\?t=1(?:\.0+)?$/);
  await page.getByRole("combobox", { name: "Speed" }).selectOption("16");
  await page.getByRole("button", { name: "Play" }).click();
  await screenShows(page, "step-6");
  await page.goto(link);
  await page.reload();
  await screenShows(page, "step-3");
  expect(await readScreen(page)).not.toContain("step-6");
});

test("an agent has no recording, and the page says what there is instead", async () => {
  await using world = await openPageWorld();
  const { session_id } = await world.door.get("session.create", {
    kind: "command",
    argv: ["echo", "printed"],
  });
  await using visit = await world.visit({ path: `/s/${session_id}/recording` });
  await visit.page.getByText("This command ran without a terminal").waitFor();
});
