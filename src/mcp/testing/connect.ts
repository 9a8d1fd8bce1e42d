import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { ManualClock } from "#base/manual-clock.ts";
import type { Tools } from "#contract/tools/tools.ts";
import { defined } from "#contract/values/defined.ts";
import { createMcpServer } from "#mcp/server.ts";
import { createFakeTools } from "./fake-tools.ts";

export interface Connected extends AsyncDisposable {
  readonly client: Client;
  readonly clock: ManualClock;
  /** What the server had to say of its own failures. */
  readonly logged: unknown[];
  /** As whom the client was served. */
  readonly clients: string[];
}

/** The official client and our server, in one process. */
export async function connect(
  own: Partial<Tools>,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<Connected> {
  const clock = new ManualClock();
  const logged: unknown[] = [];
  const clients: string[] = [];
  const note = (message: string, fields?: unknown) => void logged.push({ message, fields });
  const server = createMcpServer({
    tools: (name) => {
      clients.push(name);
      return createFakeTools(own);
    },
    version: "1.2.3",
    clock,
    log: { info: note, warn: note, error: note },
    ...defined({ signal }),
  });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  const client = new Client({ name: "editor", version: "1" });
  await client.connect(near);
  return { client, clock, logged, clients, [Symbol.asyncDispose]: () => client.close() };
}
