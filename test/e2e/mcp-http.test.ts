import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tools } from "#contract/tools/tools.ts";
import { defined } from "#contract/values/defined.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { type Door, openTestGateway } from "#test/harness/gateway.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { openTestHost, type TestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { type Era, openHttpMcp, textOf } from "#test/harness/mcp.ts";
import { rows } from "#test/harness/repeats.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

const leaseGateway = leaseForFile(() => openTestGateway());

const eras: readonly Era[] = ["legacy", "modern"];

test.each(eras)("a client of the %s protocol lists and calls every tool", async (era) => {
  await using gateway = await leaseGateway();
  using dir = openTempDir();
  await using mcp = await openHttpMcp({ ...gateway, era });
  const workdir = dir.path;
  const listed = (await mcp.client.listTools()).tools;
  expect(listed.map(({ name }) => name)).toEqual(Object.keys(tools));
  expect(listed.find(({ name }) => name === "execute")).toMatchObject({
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
    inputSchema: { required: ["command"] },
    outputSchema: { required: expect.arrayContaining(["output", "running"]) },
  });
  expect(await mcp.call("execute", { command: "pwd; exit 4", workdir })).toMatchObject({
    output: `${workdir}\n`,
    exit_code: 4,
  });
  const started = await mcp.call("execute", { command: "cat", workdir, tty: true, timeout: 0 });
  const process_id = started.background_process_id ?? "";
  const { processes } = await mcp.call("process_list", { running: true });
  expect(processes).toMatchObject([{ process_id, workdir }]);
  await mcp.call("process_input", { process_id, text: "typed", enter: true });
  const wait = { process_id, wait: "30s", wait_for: "regex", pattern: "typed\\s+typed" };
  expect((await mcp.call("process_output", wait)).output).toBe("typed\ntyped\n");
  const signal = { process_id, signal: "terminate", escalate_after: "10s" };
  expect(await mcp.call("process_signal", signal)).toMatchObject({ success: true });
  expect(await mcp.call("process_wait", { process_id, timeout: "30s" })).toMatchObject({
    running: false,
  });
});

/** Sessions that the gateway follows for somebody. */
async function countWaits(door: Door): Promise<number> {
  const text = await (await door.fetch("/metrics")).text();
  return Number(/^reins_feeds (\d+)$/m.exec(text)?.[1]);
}

test("a client drives a terminal and looks at sessions", async () => {
  await using gateway = await leaseGateway();
  await using mcp = await openHttpMcp(gateway);
  const { terminal_id } = await mcp.call("terminal_open", { command: "cat", workdir: "/" });
  const session_id = terminal_id;
  const typed = await mcp.call("terminal_type", { terminal_id, text: "hello", keys: ["enter"] });
  expect(typed.screen).toBe("hello\nhello");
  expect((await mcp.call("terminal_screen", { terminal_id })).screen).toBe("hello\nhello");
  expect((await mcp.call("session_list", {})).sessions).toMatchObject([{ session_id }]);
  await mcp.call("session_send", { session_id, text: "again", enter: true });
  const text = { for: "text", text: "again", timeout: "10s" };
  expect(await mcp.call("session_wait", { session_id, ...text })).toMatchObject({ matched: true });
  expect(await mcp.call("terminal_wait", { terminal_id, ...text })).toMatchObject({
    matched: true,
  });
  expect((await mcp.call("session_read", { session_id })).output).toContain("again");
  expect(await mcp.call("terminal_close", { terminal_id })).toMatchObject({ success: true });
});

test("what is refused is an answer that names the fault", async () => {
  await using gateway = await leaseGateway();
  await using mcp = await openHttpMcp(gateway);
  const process_id = "ses_0123456789abcdef";
  expect(await mcp.refused("process_output", { process_id })).toMatch(/^process_not_found: /);
  expect(await mcp.refused("execute", { command: "true" })).toMatch(/^invalid_request: workdir: /);
  expect(await mcp.refused("execute", { command: "true", workdir: "/", timeout: "x" })).toMatch(
    /^invalid_request: timeout: /,
  );
  await expect(mcp.client.callTool({ name: "nothing", arguments: {} })).rejects.toThrow("nothing");
});

test.each(rows<Era>({ few: ["modern"], full: eras }))(
  "cancelling by a client of the %s protocol frees the wait alone",
  async (era) => {
    await using gateway = await leaseGateway();
    using dir = openTempDir();
    await using mcp = await openHttpMcp({ ...gateway, era });
    await using other = await openHttpMcp({ ...gateway, era });
    const workdir = dir.path;
    const cancel = new AbortController();
    const command = (name: string) =>
      `touch ${name}; while [ ! -e go ]; do sleep 0.1; done; echo ${name} went on`;
    const start = (client: typeof mcp, name: string, signal?: AbortSignal) =>
      client.client.callTool(
        { name: "execute", arguments: { command: command(name), workdir, timeout: "1h" } },
        defined({ signal }),
      );
    const call = start(mcp, "one", cancel.signal);
    // Numbered like the first by a client that has the same token.
    const kept = start(other, "two");
    call.catch(() => undefined);
    await waitFor("both run", () =>
      ["one", "two"].every((name) => existsSync(join(workdir, name))),
    );
    await waitFor("both are waited for", async () => (await countWaits(gateway)) === 2);
    cancel.abort();
    await expect(call).rejects.toThrow();
    await waitFor("the gateway no longer waits", async () => (await countWaits(gateway)) === 1);
    const { processes } = await mcp.call("process_list", { running: true });
    expect(processes.length).toBe(2);
    await mcp.call("execute", { command: "touch go", workdir });
    expect(textOf(await kept)).toContain("two went on\n[exit code 0");
    const one = processes.find((found) => found.command === command("one"))?.process_id;
    expect(await mcp.call("process_wait", { process_id: one, timeout: "30s" })).toMatchObject({
      output: "one went on\n",
      exit_code: 0,
    });
  },
);

test.each(rows<Era>({ few: ["legacy"], full: eras }))(
  "a client of the %s protocol hears that a long call still waits",
  async (era) => {
    await using gateway = await leaseGateway();
    using dir = openTempDir();
    await using mcp = await openHttpMcp({ ...gateway, era });
    const heard: unknown[] = [];
    const command = "while [ ! -e go ]; do sleep 0.1; done";
    const call = mcp.client.callTool(
      { name: "execute", arguments: { command, workdir: dir.path, timeout: "1h" } },
      { onprogress: (progress) => void heard.push(progress) },
    );
    await waitFor("progress is told", () => heard.length > 0);
    await mcp.call("execute", { command: "touch go", workdir: dir.path });
    expect(textOf(await call)).toContain("[exit code 0");
  },
);

test("after kill -9 of the gateway the same client goes on with the process; one that stops answers the calls that wait", async () => {
  await using host = await openTestHost();
  using dir = openTempDir();
  const workdir = dir.path;
  await using first = await openGatewayProcess({ dataDir: host.dataDir });
  await using mcp = await openHttpMcp({ url: first.door.url, token: tokenOf(host) });
  const command = "echo before; while [ ! -e go ]; do sleep 0.1; done; echo after; exit 7";
  const started = await mcp.call("execute", { command, workdir, run_in_background: true });
  const process_id = started.background_process_id ?? "";
  await mcp.call("process_output", { process_id, wait: "30s", wait_for: "output" });
  await first.kill("SIGKILL");
  await using next = await openGatewayProcess({ dataDir: host.dataDir, port: first.port });
  expect((await mcp.call("process_list", {})).processes).toMatchObject([{ process_id }]);
  await mcp.call("execute", { command: "touch go", workdir });
  expect(await mcp.call("process_wait", { process_id, timeout: "30s" })).toMatchObject({
    output: "before\nafter\n",
    exit_code: 7,
  });
  const call = mcp.client.callTool({
    name: "execute",
    arguments: { command: "exec sleep 1000", workdir: "/", timeout: "1h" },
  });
  await waitFor("it is waited for", async () => (await countWaits(next.door)) === 1);
  const [result] = await Promise.all([call, next.kill("SIGTERM")]);
  expect(textOf(result)).toMatch(/^shutting_down: /);
  const { sessions } = await host.client.call("session.list", {});
  expect(sessions.filter(({ state }) => state.kind === "running")).toHaveLength(1);
});

function tokenOf({ dataDir }: TestHost): string {
  return readFileSync(join(dataDir, "token"), "utf8").trim();
}
