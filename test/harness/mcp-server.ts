import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A server with a tool for each thing that a server can do. */
export function createTestMcpServer(): McpServer {
  const server = new McpServer(
    { name: "test-server", version: "1" },
    { capabilities: { tools: { listChanged: true } }, instructions: "Echo before you leap." },
  );
  addAnswers(server);
  addContents(server);
  addDeeds(server);
  server.registerPrompt(
    "greet",
    {
      description: "Says hello.",
      argsSchema: z.object({ who: z.string(), how: z.string().optional() }),
    },
    ({ who }) => ({
      messages: [
        { role: "user", content: { type: "text", text: `Hello, ${who}.` } },
        { role: "assistant", content: { type: "text", text: "Hello." } },
      ],
    }),
  );
  server.registerPrompt("broken", {}, () => {
    throw new Error("this prompt is broken");
  });
  return server;
}

const say = (text: string) => ({ content: [{ type: "text" as const, text }] });

function addAnswers(server: McpServer): void {
  server.registerTool(
    "echo",
    {
      description: "Says it again.",
      inputSchema: z.object({ text: z.string() }),
      annotations: { readOnlyHint: true },
    },
    ({ text }) => say(text),
  );
  server.registerTool("write", { annotations: { destructiveHint: false } }, () => say("written"));
  server.registerTool("odd.name", {}, () => say("odd"));
  server.registerTool("fail", {}, () => ({ ...say("it did not work"), isError: true }));
  server.registerTool("env", { inputSchema: z.object({ name: z.string() }) }, ({ name }) =>
    say(process.env[name] ?? "unset"),
  );
  server.registerTool("where", {}, () => say(process.cwd()));
  server.registerTool(
    "ask",
    { inputSchema: z.object({ about: z.string() }) },
    async ({ about }) => {
      const answer = await server.server.elicitInput({
        message: `What about ${about}?`,
        requestedSchema: { type: "object", properties: { ok: { type: "boolean" } } },
      });
      return say(JSON.stringify(answer));
    },
  );
}

function addContents(server: McpServer): void {
  server.registerTool("silent", {}, () => ({ content: [] }));
  server.registerTool("huge", { inputSchema: z.object({ bytes: z.int() }) }, ({ bytes }) =>
    say("é".repeat(bytes / 2)),
  );
  server.registerTool("structured", { outputSchema: z.object({ n: z.int() }) }, () => ({
    content: [],
    structuredContent: { n: 7 },
  }));
  server.registerTool("mixed", {}, () => ({
    content: [
      { type: "text", text: "first" },
      { type: "image", mimeType: "image/png", data: PIXEL },
      { type: "audio", mimeType: "audio/wav", data: "AAAA" },
      { type: "resource", resource: { uri: "file:///a", text: "inside a" } },
      { type: "resource", resource: { uri: "file:///b", mimeType: "image/png", blob: PIXEL } },
      { type: "resource", resource: { uri: "file:///c", mimeType: "x/y", blob: "AAAA" } },
      { type: "resource_link", uri: "file:///d", name: "d" },
    ],
  }));
  server.registerTool("pictures", { inputSchema: z.object({ count: z.int() }) }, ({ count }) => ({
    content: Array.from({ length: count }, () => ({
      type: "image" as const,
      mimeType: "image/png",
      data: PIXEL,
    })),
  }));
}

function addDeeds(server: McpServer): void {
  server.registerTool("learn", { inputSchema: z.object({ name: z.string() }) }, ({ name }) => {
    server.registerTool(name, {}, () => say(`${name} it is`));
    return say("learned");
  });
  server.registerTool("crash", {}, () => {
    process.stderr.write("out of luck\n");
    process.exit(7);
  });
  server.registerTool(
    "wait",
    { inputSchema: z.object({ cancelled: z.string() }) },
    async ({ cancelled }, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      if (progressToken !== undefined)
        await mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress: 1, total: 3, message: "waiting" },
        });
      const { promise, resolve } = Promise.withResolvers<void>();
      mcpReq.signal.addEventListener("abort", () => resolve());
      await promise;
      writeFileSync(cancelled, "");
      return say("cancelled");
    },
  );
  server.registerTool("spawn", {}, () => {
    // In its group, and deaf to what is asked politely.
    const line = "trap '' TERM HUP; while :; do sleep 0.2; done";
    const child = spawn("/bin/sh", ["-c", line], { stdio: "ignore" });
    return say(String(child.pid));
  });
}
