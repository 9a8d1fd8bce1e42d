import { createInterface } from "node:readline";

/** Run as a program: a server by hand, for what no decent one does. */
const [mode] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin });
const answer = (id: unknown, result: object) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
const greeting = {
  protocolVersion: "2025-06-18",
  capabilities: { tools: {} },
  serverInfo: { name: "raw", version: "1" },
};
let pages = 0;

switch (mode) {
  case "wedged":
    process.stderr.write("still thinking\n");
    // Asked to end, it does not.
    process.on("SIGTERM", () => undefined);
    setInterval(() => undefined, 1000);
    break;
  case "leaves":
    process.stderr.write(`no license for ${process.argv[3]}\n`);
    process.exit(3);
    break;
  case "endless":
  case "hollow":
  case "restless":
  case "bad":
  case "flood":
  case "frail":
    lines.on("line", (line) => serve(JSON.parse(line)));
    break;
  default:
    throw new Error(`there is no mode ${mode}`);
}

interface Request {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly arguments?: { readonly text?: string } };
}

function serve({ id, method, params }: Request): void {
  if (id === undefined) return;
  if (method === "initialize") answer(id, greeting);
  else if (method === "tools/list") answer(id, list());
  else if (mode === "flood") process.stdout.write("x".repeat(9 * 1024 * 1024));
  else if (mode === "frail") serveFrail(id, params);
  else answer(id, { content: [{ type: "text", text: `done after ${pages} pages` }] });
}

/** Says a text again, or ends. It starts in a third of the time that a server with the SDK takes. */
function serveFrail(id: number, params: Request["params"]): void {
  if (params?.name !== "crash")
    return void answer(id, { content: [{ type: "text", text: params?.arguments?.text ?? "" }] });
  process.stderr.write("out of luck\n");
  process.exit(7);
}

function list(): object {
  pages += 1;
  switch (mode) {
    case "endless": {
      const tools = Array.from({ length: 20 }, (_, index) => tool(`t${pages}_${index}`));
      return { tools, nextCursor: `page ${pages}` };
    }
    case "frail":
      return { tools: [tool("echo"), tool("crash")] };
    case "hollow":
      return { tools: pages === 1 ? [tool("good")] : [], nextCursor: `page ${pages}` };
    case "restless": {
      const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
      if (pages === 1) process.stdout.write(`${JSON.stringify(changed)}\n`);
      return { tools: pages === 1 ? [tool("good")] : [tool("good"), tool("better")] };
    }
    default: {
      const long = "l".repeat(100);
      const bad = [{ name: "no schema" }, 7];
      return { tools: [tool("good"), ...bad, tool(long), tool(`${long}2`), tool("good")] };
    }
  }
}
