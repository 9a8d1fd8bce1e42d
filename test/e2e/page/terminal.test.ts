import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { openPageWorld, perform, screenShows } from "#test/harness/page-world.ts";

test("a shell is opened in the page, typed into, and found again after a reload", async () => {
  await using world = await openPageWorld();
  await using visit = await world.visit({ path: "/new/shell" });
  const { page } = visit;
  await page.getByLabel("Directory").fill(world.host.dataDir);
  await page.getByRole("button", { name: "Open the shell" }).click();
  await page.getByRole("region", { name: "Terminal" }).waitFor();
  await page.getByText("You have control", { exact: true }).waitFor();
  await page.keyboard.type("echo sum-$((40 + 2)); pwd\n");
  await screenShows(page, new RegExp(`^sum-42\\n${world.host.dataDir}$`, "m"));
  const address = page.url();
  await page.reload();
  await page.getByText("You have control", { exact: true }).waitFor();
  expect(page.url()).toBe(address);
  await screenShows(page, "sum-42");
  await page.keyboard.type("echo again-$((1 + 1))\n");
  await screenShows(page, /^again-2$/m);
});

test("a page that is reloaded before its old connection has ended holds the reins all the same", async () => {
  await using world = await openPageWorld();
  const { session_id } = await world.door.get("session.create", {
    kind: "terminal",
    argv: ["bash", "--norc", "--noprofile"],
  });
  const path = `/s/${session_id}`;
  // A connection that does not end, and a tab that held it before its page was reloaded.
  await using old = await world.visit({ path });
  await old.page.getByText("You have control", { exact: true }).waitFor();
  await using visit = await world.visit({ path });
  const { page } = visit;
  await page.getByText("Your other window has control").waitFor();
  const kept = await old.page.evaluate("JSON.stringify(window.sessionStorage)");
  await page.evaluate(`Object.assign(window.sessionStorage, ${kept})`);
  await page.reload();
  await page.getByText("You have control", { exact: true }).waitFor();
  await page.keyboard.type("echo held-$((1 + 1))\n");
  await screenShows(page, /^held-2$/m);
});

test("two people look at a terminal: one holds the reins, the other takes them", async () => {
  await using world = await openPageWorld();
  const { session_id } = await world.door.get("session.create", {
    kind: "terminal",
    argv: ["bash", "--norc", "--noprofile"],
  });
  const path = `/s/${session_id}`;
  await using first = await world.visit({ path, viewport: { width: 1000, height: 700 } });
  await first.page.getByText("You have control", { exact: true }).waitFor();
  await using second = await world.visit({ path, viewport: { width: 1300, height: 900 } });
  const take = second.page.getByRole("button", { name: "Take control" });
  await take.waitFor();
  const sizeOf = async () => {
    const { cols, rows } = await world.door.get("session.get", { session_id });
    return `${cols}x${rows}`;
  };
  // The one who holds the reins has given it a size.
  const size = await waitFor("a size of its own", async () => {
    const now = await sizeOf();
    return now === "80x24" ? undefined : now;
  });
  await first.page.keyboard.type("echo from-$((0 + 1))\n");
  await screenShows(second.page, /^from-1$/m);
  // Whoever only looks changes neither the size nor what is typed.
  expect(await sizeOf()).toBe(size);
  await second.page.locator(".xterm").click();
  await second.page.keyboard.type("echo never\n");
  await second.page.getByText(/take control to type/i).waitFor();
  await take.click();
  await second.page.getByText("You have control", { exact: true }).waitFor();
  await first.page.getByText(/took control/i).waitFor();
  // It stays attached as a viewer, names the controller and can take control back.
  await first.page.getByText("Your other window has control").waitFor();
  expect(await first.page.getByText("Connection lost").count()).toBe(0);
  await waitFor("the size is the second's", async () => (await sizeOf()) !== size);
  await second.page.keyboard.type("echo from-$((1 + 1))\n");
  const screen = await screenShows(first.page, /^from-2$/m);
  expect(screen).not.toContain("never");
  await first.page.getByRole("button", { name: "Take control" }).first().click();
  await second.page.getByText(/took control/i).waitFor();
  await first.page.keyboard.type("echo from-$((1 + 2))\n");
  await screenShows(second.page, /^from-3$/m);
});

test("a terminal outlives the gateway, and no character is lost or doubled", async () => {
  await using world = await openPageWorld();
  const { session_id } = await world.door.get("session.create", {
    kind: "terminal",
    // No line editor: what is printed is what is to be seen, byte for byte.
    argv: ["bash", "-c", COUNTER],
  });
  await using visit = await world.visit({
    path: `/s/${session_id}`,
    expected: /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|WebSocket|ERR_EMPTY_RESPONSE|net::ERR/,
  });
  const { page } = visit;
  await page.getByText("You have control", { exact: true }).waitFor();
  await page.keyboard.type("begin\n");
  // Or a later one: it does not wait for who looks.
  await screenShows(page, /^line-(?:[4-9]\d|\d{3})$/m);
  await world.killGateway();
  await page.getByText("Connection lost, trying again…").waitFor();
  await page.getByText(/Can’t reach the server/).waitFor();
  // It counts on while nobody serves.
  await world.startGateway();
  await screenShows(page, /^all-600$/m);
  await page.getByText(/Can’t reach the server/).waitFor({ state: "hidden" });
  await page.keyboard.type("again\n");
  await screenShows(page, /^got-again$/m);
  await perform(page, "Copy everything in the terminal");
  const shown: string = await page.evaluate("navigator.clipboard.readText()");
  const printed = await (await world.door.fetch(`/v1/sessions/${session_id}/output`)).text();
  expect(shown.trimEnd().split("\n")).toEqual(printed.trimEnd().split("\r\n"));
  expect(printed.match(/^line-\d+\r$/gm)).toHaveLength(600);
});

const COUNTER = `
stty -echo; echo ready
read -r word; echo "got-$word"
for i in $(seq 1 600); do echo "line-$i"; sleep 0.01; done
echo "all-$i"
while read -r word; do echo "got-$word"; done
`;

test("a program that prints escape sequences and HTML does nothing to the page", async () => {
  await using world = await openPageWorld();
  const hostile = [
    "<script>document.title='owned'</script><img src=x onerror=alert(1)>\\n",
    "\\033]0;owned by title\\007\\033]2;<b>owned</b>\\007",
    "\\033]52;c;b3duZWQ=\\007",
    "\\033[6n\\033[c\\033]11;?\\007\\033P$qm\\033\\\\",
    "\\033[?1049h\\033[2J\\033[Hover\\033[?1049l\\n",
    "done-here\\n",
  ].join("");
  const links = [
    "\\033]8;;javascript:alert(1)\\007click me\\033]8;;\\007\\n",
    "\\033]8;;https://example.org/<script>\\007good link\\033]8;;\\007\\n",
  ].join("");
  const { session_id } = await world.door.get("session.create", {
    kind: "terminal",
    argv: ["bash", "-c", 'printf "$0"; read -r; printf "$1"; exec cat -v', hostile, links],
  });
  await using visit = await world.visit({ path: `/s/${session_id}` });
  const { page } = visit;
  page.on("dialog", (dialog) => {
    throw new Error(`a dialog: ${dialog.message()}`);
  });
  await page.evaluate("navigator.clipboard.writeText('mine')");
  const screen = await screenShows(page, "done-here");
  expect(screen).toContain("<script>document.title='owned'</script><img src=x onerror=alert(1)>");
  expect(await page.locator("main img, main script, main b").count()).toBe(0);
  expect(await page.title()).not.toContain("owned by title");
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe("mine");
  await page.keyboard.type("\n");
  await screenShows(page, "good link");
  await clickText(page, "click me");
  expect(await page.getByRole("dialog").count()).toBe(0);
  await clickText(page, "good link");
  const look = page.getByRole("dialog", { name: "Open this link?" });
  expect(await look.textContent()).toContain("https://example.org/%3Cscript%3E");
  await page.keyboard.press("Escape");
  await page.locator(".xterm").click();
  // What was printed before we came is history, and asks nobody.
  await page.keyboard.type("typed\n");
  expect(await screenShows(page, /typed\ntyped/)).not.toMatch(/\^\[/);
});

/** Where it is drawn: the terminal itself takes what is clicked. */
async function clickText(page: Page, text: string): Promise<void> {
  // A row may be drawn anew at any moment.
  const drawn = page.locator(".xterm-rows").getByText(text);
  const box = await waitFor(
    `${text} is drawn`,
    async () => (await drawn.boundingBox()) ?? undefined,
  );
  await page.mouse.move(box.x + 3, box.y + box.height / 2);
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
}
