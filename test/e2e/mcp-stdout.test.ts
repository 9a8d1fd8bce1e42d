import { expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import type { Running } from "#test/harness/reins.ts";

const { lease } = keepReins();

const initialize = {
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "c", version: "1" },
  },
};

test("stdout carries nothing but the protocol, whatever comes in and whatever is printed", async () => {
  await using reins = await lease();
  // Once it is told to, prints to stdout by every way that a module in the same process has.
  const print =
    "console.log('noise');process.stdout.write('noise\\n');process.emitWarning('noise')";
  const noise = `data:text/javascript,process.once('SIGUSR2',()=>setInterval(()=>{${print}},5).unref())`;
  const server = reins.start(["serve", "mcp"], {
    input: "pipe",
    env: { NODE_OPTIONS: `--import ${JSON.stringify(noise)}` },
  });
  send(server, initialize);
  await waitFor("it is there", () => answers(server).length === 1);
  server.child.kill("SIGUSR2");
  await waitFor("something else is printed", () => server.stderr().includes("noise"));
  send(server, { method: "notifications/initialized" });
  server.child.stdin?.write("this is no JSON\n{}\n[]\n\n");
  send(server, { id: 2, method: "tools/list" });
  send(server, { id: 3, method: "no/such/method" });
  send(server, { id: 4, method: "tools/call", params: { name: 7 } });
  const command = "echo out; echo err >&2";
  send(server, call(5, "execute", { command }));
  send(server, call(6, "execute", { command: " " }));
  await waitFor("everything is answered", () => answers(server).length === 6);
  server.child.stdin?.end();
  expect(await server.ended).toMatchObject({ code: 0 });
  const byId = new Map(answers(server).map((answer) => [answer.id, answer]));
  expect([...byId.keys()].toSorted()).toEqual([1, 2, 3, 4, 5, 6]);
  expect(byId.get(3)).toMatchObject({ error: { code: -32_601 } });
  expect(byId.get(4)).toMatchObject({ error: { code: expect.any(Number) } });
  expect(byId.get(5)).toMatchObject({ result: { structuredContent: { output: "out\nerr\n" } } });
  expect(byId.get(6)).toMatchObject({ result: { isError: true } });
});

test("the end of stdin ends it in the middle of a wait, and the process goes on", async () => {
  await using reins = await lease();
  const server = await startWaiting(reins.start(["serve", "mcp"], { input: "pipe" }), reins.path);
  server.child.stdin?.end();
  expect(await server.ended).toMatchObject({ code: 0, stderr: "" });
  expect(await reins.sessions()).toMatchObject([{ state: { kind: "running" } }]);
});

test("SIGTERM ends it, and the process goes on", async () => {
  await using reins = await lease();
  const server = await startWaiting(reins.start(["serve", "mcp"], { input: "pipe" }), reins.path);
  server.child.kill("SIGTERM");
  expect(await server.ended).toMatchObject({ code: 0, stderr: "" });
  expect(await reins.sessions()).toMatchObject([{ state: { kind: "running" } }]);
});

test.each([
  [["serve", "mcp", "team.yaml", "word"], /no use for "word"/],
  [["serve", "mcp", "--listen", "x"], /--listen/],
  [["serve", "mcp", "--owner", ""], /--owner: a name has 1 to 200 characters/],
  [["serve", "mcp", "--owner", "x".repeat(201)], /--owner: /],
])("reins %j is refused on stderr", async (args, message) => {
  await using reins = await lease();
  const { code, stdout, stderr } = await reins.run(args);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(message);
});

interface Answer {
  readonly jsonrpc: string;
  readonly id?: number;
}

/** Every line that stands on stdout, each of which has to be a message. */
function answers(server: Running): Answer[] {
  const lines = server.stdout().toString().split("\n").slice(0, -1);
  const messages = lines.map((line): Answer => JSON.parse(line));
  for (const message of messages) expect(message.jsonrpc).toBe("2.0");
  return messages.filter(({ id }) => id !== undefined);
}

function send(server: Running, message: Record<string, unknown>): void {
  server.child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function call(id: number, name: string, input: Record<string, unknown>) {
  return { id, method: "tools/call", params: { name, arguments: input } };
}

async function startWaiting(server: Running, path: string): Promise<Running> {
  send(server, initialize);
  send(server, { method: "notifications/initialized" });
  send(server, call(2, "execute", { command: "echo ready; exec sleep 1000", timeout: "1h" }));
  send(server, call(3, "process_list", {}));
  await waitFor(`${path}: it runs`, () => {
    send(server, call(3, "process_list", {}));
    return server.stdout().toString().includes('"bytes":6');
  });
  return server;
}
