import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { expect, test } from "vitest";
import { findBarriers, PHONE } from "#test/harness/browser.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openPageWorld } from "#test/harness/page-world.ts";
import { scripted } from "#test/harness/runtimes.ts";

const MARK = "proof.txt";
const LONG = `echo ${"a".repeat(3000)}; touch ${MARK}`;
const team = scripted(
  [
    {
      when: { last_user_contains: "hidden", last_role: "user" },
      tool_calls: [
        { tool: "write_file", input: { path: "safe_\u202etxt.sh", content: "a\u200b" } },
      ],
    },
    {
      when: { last_user_contains: "long", last_role: "user" },
      tool_calls: [{ tool: "execute", input: { command: LONG } }],
    },
    { text: "Done.", repeat: true },
  ],
  { toolsets: [{ type: "filesystem" }, { type: "shell" }] },
);

/** Nothing covers the middle of it. */
async function isInView(button: Locator): Promise<boolean> {
  const { x, y, width, height } = (await button.boundingBox()) ?? {
    x: 0,
    y: 0,
    width: 0,
    height: 0,
  };
  const [left, top] = [x + width / 2, y + height / 2];
  const found = `document.elementFromPoint(${left}, ${top})?.closest("button")?.textContent`;
  return (await button.page().evaluate(found)) === (await button.textContent());
}

test("an approval hides no character and no end, and both answers stay in view", async () => {
  await using world = await openPageWorld();
  const { door, host } = world;
  const { session_id } = await door.get("agent.create", {
    source: { kind: "inline", yaml: team },
    working_dir: host.dataDir,
    title: "invoice_\u202efdp.exe",
  });
  const ask = async (content: string) => {
    await door.get("agent.send", { session_id, messages: [{ content }] });
    await door.get("session.wait", { session_id, for: "needs_answer", timeout_ms: 30_000 });
  };
  await ask("hidden");
  await using visit = await world.visit({ path: `/s/${session_id}`, viewport: PHONE });
  const { page } = visit;
  const form = page.getByRole("region", { name: "The agent needs an answer" }).getByRole("form");
  const button = (name: string) => form.getByRole("button", { name });
  await form.getByText("Hidden characters:").waitFor();
  await form
    .getByRole("heading", { name: /^Write safe_hidden character U\+202E.*txt\.sh\?/ })
    .waitFor();
  await waitFor("a title without tricks", async () =>
    (await page.title()).includes("invoice_⟨U+202E⟩fdp.exe"),
  );
  expect(await page.locator("main").textContent()).not.toMatch(/[\u202e\u200b]/);
  expect(await findBarriers(page)).toEqual([]);
  await button("Reject").click();
  await form.waitFor({ state: "hidden" });
  await ask("long");
  await form.getByText("2,222 more characters").waitFor();
  // The end is there from the beginning, and so are both answers.
  expect(await form.textContent()).toContain(`; touch ${MARK}`);
  for (const name of ["Approve once", "Reject"]) expect(await isInView(button(name))).toBe(true);
  expect(await button("Approve once").isDisabled()).toBe(true);
  await button("Show all").click();
  expect(await form.textContent()).toContain(LONG);
  expect(await button("Approve once").isDisabled()).toBe(true);
  await button("Scroll down").click();
  await page.evaluate("document.querySelector('[data-scroller]').scrollTo(0, 1e6)");
  await button("Scroll down").waitFor({ state: "hidden" });
  expect(await isInView(button("Reject"))).toBe(true);
  await button("Approve once").click();
  await waitFor("the command has run", () => existsSync(join(host.dataDir, MARK)) || undefined);
});
