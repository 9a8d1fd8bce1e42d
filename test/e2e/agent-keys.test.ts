import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createClient } from "#client/client.ts";
import { openRemoteBackend } from "#client/runtime.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { openTestHost } from "#test/harness/host.ts";
import { eventsOf, inline, nextEvent, runToEnd } from "#test/harness/runtimes.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

// Of this test alone, so that finding it anywhere means something.
const KEY = `key-${process.pid}-4b1d2f9a7c3e`;

/** A server that speaks the chat format and lets nobody in without the key. */
async function openModelServer() {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization ?? "none");
    let body = "";
    request.on("data", (part: Buffer) => {
      body += part.toString();
    });
    request.on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(
        answerTo(body)
          .map((chunk) => `data: ${chunk}\n\n`)
          .join(""),
      );
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // The server listens on a port, not on a path.
  const { port } = server.address() as AddressInfo;
  return {
    seen,
    url: `http://127.0.0.1:${port}/v1`,
    [Symbol.dispose]: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** First it lets a command run that shows its environment, then it is content. */
function answerTo(body: string): string[] {
  const delta = body.includes('"role":"tool"')
    ? { role: "assistant", content: "Nothing secret there." }
    : {
        role: "assistant",
        tool_calls: [
          {
            index: 0,
            id: "call_1",
            type: "function",
            function: {
              name: "execute",
              arguments: JSON.stringify({
                command: "env; tr '\\0' ' ' < /proc/$PPID/environ; sleep 300",
                timeout: 1,
              }),
            },
          },
        ],
      };
  const reason = "tool_calls" in delta ? "tool_calls" : "stop";
  const chunk = (choice: object) => JSON.stringify({ id: "c", choices: [{ index: 0, ...choice }] });
  return [chunk({ delta }), chunk({ delta: {}, finish_reason: reason }), "[DONE]"];
}

test("a key is in no environment, file, log line, argument or child", {
  timeout: 90_000,
}, async () => {
  await using stack = new AsyncDisposableStack();
  const workDir = stack.use(openTempDir()).path;
  const models = stack.use(await openModelServer());
  const { dataDir } = stack.use(await openTestHost());
  const env = { ACME_KEY: KEY, COPY_OF_IT: `prefix ${KEY}` };
  const gateway = stack.use(await openGatewayProcess({ dataDir, env, args: [] }));
  const token = readFileSync(join(dataDir, "token"), "utf8").trim();
  const backend = openRemoteBackend(createClient({ url: gateway.door.url, token }));
  const yaml = JSON.stringify({
    agents: {
      root: {
        model: "acme/one",
        description: "Looks around.",
        instruction: "Look around.",
        toolsets: [{ type: "shell" }],
      },
    },
    providers: {
      acme: { api_type: "openai_chatcompletions", base_url: models.url, token_key: "ACME_KEY" },
    },
  });
  const source = inline(yaml);
  const runtime = await backend.create({ source, working_dir: workDir, safety: "autonomous" });
  const running = runToEnd(runtime, "Look around.");
  await nextEvent(runtime, "tool.result");
  // The worker, its command and everything else are alive now; the gateway has wiped what it was given at its start.
  const told = [process.pid];
  expect(findInProcesses(KEY, told)).toEqual([]);
  const events = await running;
  expect(models.seen).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`]);
  const [result] = eventsOf(events, "tool.result");
  expect(result?.output).toContain("REINS_AGENT=1");
  expect(JSON.stringify(events)).not.toContain(KEY);
  await gateway.door.call("session.close", { session_id: runtime.session_id });
  expect(findInFiles(KEY, dataDir)).toEqual([]);
  expect(findInFiles(KEY, workDir)).toEqual([]);

  // Another life is told it anew, and it is as careful.
  const again = await backend.create({ source, working_dir: workDir, safety: "autonomous" });
  const { session_id } = again;
  const { pid } = await gateway.door.get("session.get", { session_id });
  process.kill(pid ?? 0, "SIGKILL");
  await waitFor("the worker is gone", async () => {
    const { state } = await gateway.door.get("session.get", { session_id });
    return state.kind === "exited";
  });
  expect((await runToEnd(again, "Look again.")).at(-1)).toMatchObject({ reason: "done" });
  expect(findInProcesses(KEY, told)).toEqual([]);
  await gateway.door.call("session.close", { session_id });
  expect(findInFiles(KEY, dataDir)).toEqual([]);
});

test("without its key a team is refused by the name of the variable, and nothing is left", async () => {
  await using stack = new AsyncDisposableStack();
  const { dataDir } = stack.use(await openTestHost());
  const gateway = stack.use(await openGatewayProcess({ dataDir, env: { OPENAI_API_KEY: "" } }));
  const yaml = JSON.stringify({
    agents: { root: { model: "openai/gpt-5", description: "D.", instruction: "I." } },
  });
  const answer = await gateway.door.call("agent.create", { source: inline(yaml) });
  expect(answer.status).toBe(502);
  expect(answer.body.error).toMatchObject({
    code: "model_failed",
    message: expect.stringContaining("OPENAI_API_KEY"),
  });
  expect((await gateway.door.get("session.list", {})).sessions).toEqual([]);
});

/** Which environments and command lines have it. */
function findInProcesses(text: string, except: readonly number[]): string[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids
    .filter((pid) => !except.includes(Number(pid)))
    .flatMap((pid) => ["environ", "cmdline"].map((file) => join("/proc", pid, file)))
    .filter((path) => read(path).includes(text));
}

function findInFiles(text: string, folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => read(path).includes(text));
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // A process that has ended, or one of somebody else.
    return "";
  }
}
