import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { keepReins } from "#test/harness/kept-reins.ts";
import { openStdioMcp, type StdioMcp } from "#test/harness/mcp.ts";

import { scripted } from "#test/harness/runtimes.ts";
import { asking, writing } from "#test/harness/steps.ts";

const { lease } = keepReins();

const TEAM = scripted(
  [
    ...writing(),
    ...asking("So it is \u001b[31mblue."),
    { when: { last_user_contains: "for ever" }, delay_ms: 600_000, text: "Never said." },
    { text: "Later.", repeat: true },
  ],
  {
    toolsets: [{ type: "filesystem" }, { type: "user_prompt" }],
    welcome_message: "Be welcome.",
  },
);

/** A terminal that cannot be drawn on: there a line is a turn. */
const PLAIN = "env TERM=dumb";

/** A person at a terminal. */
function sitAt({ call }: StdioMcp, terminal_id: string) {
  return {
    sees: async (text: string) => {
      const seen = await call("terminal_wait", { terminal_id, for: "text", text, timeout: "30s" });
      if (!seen.matched) throw new Error(`${text} is not on the screen:\n${seen.screen}`);
      return seen.screen;
    },
    types: (text: string) => call("terminal_type", { terminal_id, text, keys: ["enter"] }),
    presses: (key: string) => call("terminal_type", { terminal_id, keys: [key] }),
    ended: () => call("terminal_wait", { terminal_id, for: "exit", timeout: "30s" }),
  };
}

test("Ctrl-C interrupts the turn and not the conversation; who leaves comes back", async () => {
  await using reins = await lease();
  writeFileSync(join(reins.path, "team.yaml"), TEAM);
  await using mcp = await openStdioMcp(reins);
  const { terminal_id } = await mcp.call("terminal_open", {
    command: `${PLAIN} reins run team.yaml`,
  });
  const person = sitAt(mcp, terminal_id);
  await person.sees("Be welcome.\n>");
  await person.presses("ctrl+c");
  await person.sees("Ctrl-D leaves");
  await person.types("think for ever");
  await person.presses("ctrl+c");
  await person.sees("the turn was interrupted");
  await person.types("please write");
  await person.sees("[a]ll from now on:");
  // The question stays open.
  await person.presses("ctrl+d");
  expect(await person.ended()).toMatchObject({ state: { kind: "exited", exit_code: 0 } });
  const agent = (await reins.sessions()).find(({ kind }) => kind === "agent");
  const back = await mcp.call("terminal_open", {
    command: `${PLAIN} reins run --session ${agent?.session_id}`,
  });
  const again = sitAt(mcp, back.terminal_id);
  await again.sees("[a]ll from now on:");
  await again.types("y");
  expect(await again.sees("It is written.")).not.toContain("Be welcome.");
  await again.presses("ctrl+d");
  expect(await again.ended()).toMatchObject({ state: { kind: "exited", exit_code: 0 } });
});
