import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { type Door, openTestGateway } from "#test/harness/gateway.ts";
import { openHttpMcp, textOf } from "#test/harness/mcp.ts";

const ping = { jsonrpc: "2.0", id: 1, method: "ping" };

test("the door of MCP is the door of everything: token, role, origin and size", async () => {
  await using gateway = await openTestGateway();
  const viewer = await gateway.mint({ user_id: "vic", role: "viewer" });
  const operator = await gateway.mint({ user_id: "ops", role: "operator" });
  expect(await post(gateway.as(undefined), ping)).toMatchObject([401, { code: "unauthenticated" }]);
  expect(await post(gateway.as("wrong"), ping)).toMatchObject([401, { code: "unauthenticated" }]);
  expect(await post(gateway.as(viewer), ping)).toMatchObject([403, { code: "forbidden" }]);
  const evil = { Origin: "https://evil.example" };
  expect(await post(gateway, ping, evil)).toMatchObject([403, { code: "forbidden" }]);
  const large = { ...ping, pad: "x".repeat(limits.body_bytes) };
  expect(await post(gateway, large)).toMatchObject([413, { code: "payload_too_large" }]);
  expect((await post(gateway.as(operator), ping))[0]).toBe(200);
});

test("what is no MCP is refused by the protocol", async () => {
  await using gateway = await openTestGateway();
  expect((await gateway.fetch("/mcp")).status).toBe(405);
  expect((await gateway.fetch("/mcp", { method: "DELETE" })).status).toBe(405);
  const headers = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
  };
  const garbage = await gateway.fetch("/mcp", { method: "POST", headers, body: "{" });
  expect([garbage.status, await garbage.json()]).toMatchObject([400, { error: { code: -32_700 } }]);
  const plain = await gateway.fetch("/mcp", { method: "POST", body: JSON.stringify(ping) });
  expect(plain.status).toBe(415);
});

test("a token sees what its workspaces have, and nothing of the others", async () => {
  await using gateway = await openTestGateway();
  const { workspace_id } = await gateway.get("workspace.create", { name: "web" });
  const workspaces = [workspace_id];
  const ada = await gateway.mint({ user_id: "ada", role: "operator", workspaces });
  const bob = await gateway.mint({ user_id: "bob", role: "operator", workspaces });
  const eve = await gateway.mint({ user_id: "eve", role: "operator", workspaces: ["wsp_local"] });
  const { url } = gateway;
  await using adas = await openHttpMcp({ url, token: ada });
  await using bobs = await openHttpMcp({ url, token: bob });
  await using eves = await openHttpMcp({ url, token: eve });
  const input = { command: "sleep 1000", workdir: "/", run_in_background: true };
  const process_id = (await adas.call("execute", input)).background_process_id ?? "";
  expect((await bobs.call("process_list", {})).processes).toMatchObject([{ process_id }]);
  expect((await eves.call("process_list", {})).processes).toEqual([]);
  expect(await eves.refused("process_output", { process_id })).toMatch(/^process_not_found: /);
  expect(await eves.refused("session_read", { session_id: process_id })).toMatch(/_not_found: /);
});

test("who waits with a token that is revoked is sent away", async () => {
  await using gateway = await openTestGateway({ patience: { revocationCheckMs: 20 } });
  const { secret, token_id } = await gateway.get("token.create", {
    user_id: "ada",
    role: "operator",
  });
  await using mcp = await openHttpMcp({ url: gateway.url, token: secret });
  const call = mcp.client.callTool({
    name: "execute",
    arguments: { command: "sleep 1000", workdir: "/", timeout: "1h" },
  });
  await waitFor("it runs", async () => {
    const { sessions } = await gateway.get("session.list", {});
    return sessions.length === 1;
  });
  await gateway.get("token.revoke", { token_id });
  expect(textOf(await call)).toMatch(/^unauthenticated: /);
});

async function post(
  door: Door,
  message: unknown,
  headers: Record<string, string> = {},
): Promise<[status: number, error: unknown]> {
  const response = await door.fetch("/mcp", {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify(message),
  });
  const text = await response.text();
  return [response.status, response.ok ? undefined : JSON.parse(text).error];
}
