import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLogger } from "#base/logger.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openHttpMcpServer } from "#test/harness/mcp-server-http.ts";
import { type McpSetting, startMcpToolset } from "#test/harness/mcp-toolset.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { createToolContext } from "#test/harness/tool-context.ts";

const TOKEN = "a-secret-token";

function settingOf(url: string, token = TOKEN): McpSetting {
  const headers = { authorization: `Bearer \${TOKEN}` };
  return { env: { TOKEN: token }, server: { kind: "http", url, headers } };
}

test("a server is reached by its address and headers, and told when we leave", async () => {
  await using server = await openHttpMcpServer(TOKEN);
  const mcp = await startMcpToolset(settingOf(server.url));
  expect(mcp.toolset).toMatchObject({ state: "ready", problem: undefined });
  expect(await mcp.call("echo", { text: "hi" })).toEqual({ output: "hi" });
  expect(new Set(server.authorizations)).toEqual(new Set([`Bearer ${TOKEN}`]));
  expect(server.sessions()).toBe(1);
  await mcp[Symbol.asyncDispose]();
  expect(server.sessions()).toBe(0);
});

test("a tool that comes later is told", async () => {
  await using server = await openHttpMcpServer(TOKEN);
  await using mcp = await startMcpToolset(settingOf(server.url));
  await waitFor("the stream on which it is told", () => server.authorizations.length >= 4);
  await mcp.call("learn", { name: "late" });
  await waitFor("the new tool", () => mcp.names().includes("late"));
});

test("questions, progress and cancelling work as on stdio", async () => {
  using dir = openTempDir();
  await using server = await openHttpMcpServer(TOKEN);
  await using mcp = await startMcpToolset(settingOf(server.url));
  const asked = createToolContext({ action: "accept", content: { ok: true } });
  expect(await mcp.call("ask", { about: "it" }, asked)).toEqual({
    output: '{"action":"accept","content":{"ok":true}}',
  });
  const context = createToolContext();
  const cancelled = join(dir.path, "cancelled");
  const waiting = mcp.call("wait", { cancelled }, context);
  await waitFor("the progress", () => context.reports.length > 0);
  context.interrupt();
  expect(await waiting).toMatchObject({ is_error: true });
  await waitFor("the server has heard of it", () => existsSync(cancelled));
});

test("who is refused hears why, without the secret and without what is in the address", async () => {
  await using server = await openHttpMcpServer(TOKEN);
  const logged: unknown[] = [];
  const warn = (_message: string, fields?: object) => void logged.push(fields);
  const log = { ...silentLogger, warn };
  await using mcp = await startMcpToolset({ ...settingOf(server.url, "another-secret"), log });
  expect(mcp.toolset.state).toBe("failed");
  expect(JSON.stringify(logged)).toContain("not with Bearer ***");
  expect(mcp.toolset.problem).toContain(`http://127.0.0.1:${server.port}/mcp answered 401: `);
  expect(mcp.toolset.problem).toContain("not with Bearer ***");
  expect(mcp.toolset.problem).not.toContain("in-the-url");
});

test("an address where nobody listens is said, and works after a restart", async () => {
  const { port, url } = await closedServer();
  await using mcp = await startMcpToolset(settingOf(url));
  expect(mcp.toolset).toMatchObject({
    state: "failed",
    problem: `http://127.0.0.1:${port}/mcp cannot be reached: connect ECONNREFUSED 127.0.0.1:${port}`,
  });
  await using _server = await openHttpMcpServer(TOKEN, port);
  await mcp.toolset.restart();
  expect(await mcp.call("echo", { text: "hi" })).toEqual({ output: "hi" });
});

test("a header whose variable is not set is said", async () => {
  await using mcp = await startMcpToolset({ ...settingOf("http://127.0.0.1:1/mcp"), env: {} });
  expect(mcp.toolset).toMatchObject({
    state: "failed",
    problem: "authorization needs the variable TOKEN, which is not set",
  });
});

test("a server that was restarted and knows us no more is greeted again by the next call", async () => {
  await using server = await openHttpMcpServer(TOKEN);
  await using mcp = await startMcpToolset(settingOf(server.url));
  server.forget();
  expect(await mcp.call("echo", { text: "hi" })).toMatchObject({
    output: expect.stringContaining("answered 404"),
    is_error: true,
  });
  expect(mcp.toolset.state).toBe("stopped");
  expect(await mcp.call("echo", { text: "hi" })).toEqual({ output: "hi" });
});

test("an answer that is cut off ends the call", async () => {
  using dir = openTempDir();
  await using server = await openHttpMcpServer(TOKEN);
  await using mcp = await startMcpToolset(settingOf(server.url));
  const context = createToolContext();
  const waiting = mcp.call("wait", { cancelled: join(dir.path, "cancelled") }, context);
  await waitFor("the progress", () => context.reports.length > 0);
  server.cut();
  expect(await waiting).toMatchObject({
    output: expect.stringMatching(/mcp cut off its answer; what was asked for may have been done$/),
    is_error: true,
  });
  expect(await mcp.call("echo", { text: "hi" })).toEqual({ output: "hi" });
});

async function closedServer() {
  await using server = await openHttpMcpServer(TOKEN);
  return { port: server.port, url: server.url };
}
