import { existsSync, writeFileSync } from "node:fs";
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

test("a line is a turn; approvals and questions are answered in place", async () => {
  await using reins = await lease();
  writeFileSync(join(reins.path, "team.yaml"), TEAM);
  await using mcp = await openStdioMcp(reins);
  const { terminal_id } = await mcp.call("terminal_open", {
    command: `${PLAIN} reins run team.yaml`,
  });
  const person = sitAt(mcp, terminal_id);
  await person.sees("Be welcome.\n>");
  await person.types("hello");
  await person.sees("Later.\n>");
  const note = join(reins.path, "note.txt");
  // What was typed before the question is no answer to it.
  await person.types("please write\ny");
  await person.sees("[a]ll from now on:");
  // Neither yes nor no is asked again.
  await person.types("maybe");
  await person.types("n");
  await person.sees("It was refused.");
  expect(existsSync(note)).toBe(false);
  await person.types("write it");
  await person.sees("[a]ll from now on:");
  await person.types("y");
  await person.sees("It is written.");
  expect(existsSync(note)).toBe(true);
  await person.types("ask me");
  await person.sees("2. blue");
  await person.types("2");
  expect(await person.sees("So it is")).toContain("So it is  [31mblue.");
  await person.presses("ctrl+d");
  expect(await person.ended()).toMatchObject({ state: { kind: "exited", exit_code: 0 } });
  const agents = (await reins.sessions()).filter(({ kind }) => kind === "agent");
  expect(agents).toMatchObject([{ state: { kind: "running" } }]);
});
