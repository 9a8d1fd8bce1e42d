import { afterAll, beforeAll, expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { type HostTools, openHostTools } from "#test/harness/host-tools.ts";
import { createNap } from "#test/harness/process-tools.ts";
import { findProcesses } from "#test/harness/processes.ts";
import { type CallToolset, callerOf, createToolContext } from "#test/harness/tool-context.ts";
import { createTerminalToolset } from "./terminal.ts";

const timeout = 30_000;
const stack = new AsyncDisposableStack();
let world: HostTools;
let call: CallToolset;
beforeAll(async () => {
  world = stack.use(await openHostTools());
  call = callerOf(open());
}, timeout);
afterAll(() => stack.disposeAsync());

function open() {
  const config = { name: "terminal", tools: undefined, instruction: undefined } as const;
  return createTerminalToolset({ type: "terminal", ...config }, world);
}

test("a terminal is opened, typed into, waited for and closed", { timeout }, async () => {
  const opened = await call("terminal_open", { command: "cat" });
  const terminal_id = /\[terminal_id: (ses_\w+)\]/.exec(opened.output)?.[1];
  expect(opened.output).toContain("[running, cursor at row 0 column 0, 100x30]");
  const typed = await call("terminal_type", { terminal_id, text: "hello", keys: ["enter"] });
  expect(typed.output).toMatch(/^hello\nhello\n/);
  const waited = await call("terminal_wait", { terminal_id, for: "text", text: "hello" });
  expect(waited.output).toContain("[it has come]");
  const offset = Number(/\[offset: (\d+)\]/.exec(waited.output)?.[1]);
  const seen = await call("terminal_screen", { terminal_id, since: offset });
  expect(seen.output).toContain("[nothing has changed]");
  const closed = await call("terminal_close", { terminal_id });
  expect(closed).toMatchObject({ output: expect.stringMatching(/^ended/), is_error: false });
});

test("the tools that only look may be asked again and again", () => {
  const polling = open()
    .tools()
    .filter((tool) => tool.polling === true);
  expect(polling.map(({ name }) => name)).toEqual(["terminal_screen", "terminal_wait"]);
});

test("a terminal whose opening is interrupted is closed again", { timeout }, async () => {
  const nap = createNap();
  const context = createToolContext();
  const opening = call("terminal_open", { command: nap }, context);
  await waitFor("the program", () => findProcesses(nap).length > 0);
  context.interrupt();
  expect(await opening).toMatchObject({ is_error: true });
  expect(findProcesses(nap)).toEqual([]);
});

test("an unknown terminal is an answer", async () => {
  const outcome = await call("terminal_screen", { terminal_id: "ses_0123456789abcdef" });
  expect(outcome).toMatchObject({ is_error: true, output: expect.stringMatching(/not_found: /) });
});
