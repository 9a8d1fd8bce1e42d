import { expect, test } from "vitest";
import { ticketAddress } from "#test/harness/browser.ts";
import { openPageWorld, screenShows } from "#test/harness/page-world.ts";

test("a link into a foreign workspace looks like one to nothing, and nothing of it is told", async () => {
  await using world = await openPageWorld();
  const { door } = world;
  const theirs = await door.get("workspace.create", { name: "theirs" });
  const ours = await door.get("workspace.create", { name: "ours" });
  const { session_id } = await door.get("session.create", {
    kind: "terminal",
    argv: ["bash", "-c", "echo secret-words; sleep 1000"],
    title: "secret title",
    workspace_id: theirs.workspace_id,
  });
  const { secret } = await door.get("token.create", {
    user_id: "guest",
    role: "operator",
    workspaces: [ours.workspace_id],
  });
  await using visit = await world.visit({
    door: door.as(secret),
    path: `/s/${session_id}`,
    expected: /404/,
  });
  const { page } = visit;
  const seen = async () => await page.getByRole("main").textContent();
  await page.getByRole("heading", { name: "There is no such session" }).waitFor();
  const foreign = await seen();
  await visit.goTo("/s/ses_0000000000000000");
  await page.getByRole("heading", { name: "There is no such session" }).waitFor();
  expect(await seen()).toBe(foreign);
  await visit.goTo(`/s/${session_id}/recording`);
  await page.getByRole("heading", { name: "There is no such session" }).waitFor();
  await visit.goTo("/");
  await page.getByRole("heading", { name: "Nothing runs yet" }).waitFor();
  expect(await page.content()).not.toContain("secret");
});

test("a ticket lets one browser in once; without one there is the door", async () => {
  await using world = await openPageWorld();
  const context = await world.browser.browser.newContext();
  const page = await context.newPage();
  await page.goto(world.door.url);
  await page.getByText("reins open", { exact: true }).waitFor();
  const address = await ticketAddress(world.door, "/health");
  await page.goto(address);
  await page.reload();
  await page.getByRole("heading", { name: "Health" }).waitFor();
  expect(page.url()).toBe(`${world.door.url}/#/health`);
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ name: "reins", httpOnly: true, sameSite: "Strict" });
  expect(await page.evaluate("document.cookie")).toBe("");
  // Somebody else with the same address.
  const other = await (await world.browser.browser.newContext()).newPage();
  await other.goto(address);
  await other.getByText(/This ticket is invalid, used or expired/).waitFor();
  await page.getByRole("button", { name: /^Account of/ }).click();
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByText("reins open", { exact: true }).waitFor();
  await page.goto(`${world.door.url}/#/health`);
  await page.reload();
  await page.getByText("reins open", { exact: true }).waitFor();
});

test("a token that is revoked leads to the sign-in view at once, and a pasted ticket back in", async () => {
  await using world = await openPageWorld();
  const { door } = world;
  const { secret, token_id } = await door.get("token.create", { user_id: "ann", role: "operator" });
  await using visit = await world.visit({
    door: door.as(secret),
    path: "/new/shell",
    expected: /401/,
  });
  const { page } = visit;
  await page.getByRole("form", { name: "Shell" }).waitFor();
  const asked: string[] = [];
  page.on("response", (response) => {
    if (response.status() === 401 || response.status() === 429) asked.push(response.url());
  });
  await door.get("token.revoke", { token_id });
  await page.getByText("Your session has expired. Sign in again.").waitFor();
  // An address that is pasted into the same tab loads nothing: the page takes the ticket itself.
  const { ticket } = await door.get("ticket.create", {});
  await page.evaluate(`location.hash = "ticket=${ticket}&to=%2Fhealth"`);
  await page.getByRole("heading", { name: "Health" }).waitFor();
  expect(page.url()).toBe(`${door.url}/#/health`);
  expect(asked.length).toBeLessThanOrEqual(1);
  // A tab that is signed in stays so when the ticket was used already; its address is clean all the same.
  await page.evaluate(`location.hash = "ticket=${ticket}&to=%2F"`);
  await page.getByText(/This ticket is invalid, used or expired/).waitFor();
  expect(page.url()).toBe(`${door.url}/#/`);
});

test("a viewer watches and is told what is not for it", async () => {
  await using world = await openPageWorld();
  const { session_id } = await world.door.get("session.create", {
    kind: "terminal",
    argv: ["bash", "-c", "echo to-see; sleep 1000"],
  });
  const { secret } = await world.door.get("token.create", { user_id: "looker", role: "viewer" });
  await using visit = await world.visit({ door: world.door.as(secret), path: `/s/${session_id}` });
  const { page } = visit;
  await screenShows(page, /^to-see$/m);
  expect(await page.getByRole("button", { name: "Take control" }).count()).toBe(0);
  await visit.goTo("/audit");
  await page.getByRole("heading", { name: "Only an admin sees the audit log" }).waitFor();
  await visit.goTo("/new/shell");
  await page.getByRole("heading", { name: "You may look on, not start anything" }).waitFor();
});
