import { Connection, type ConnectionEvents } from "./connection.ts";
import { createServer, type McpConfig, type McpDeps, type McpSdk } from "./server.ts";

interface ConnectionRequest {
  readonly config: McpConfig;
  readonly deps: McpDeps;
  readonly events: ConnectionEvents;
  readonly signal: AbortSignal;
}

/** For servers that know nothing of the handshake of the revisions before it. */
const MODERN = "2026-07-28";

/** Starts the server, or reaches it, and greets it. The message of what is thrown is a sentence. */
export async function openConnection(request: ConnectionRequest): Promise<Connection> {
  // Most teams have no server, and the package takes a while to load.
  const sdk = await import("@modelcontextprotocol/client");
  try {
    return await greet(request, sdk, "legacy");
  } catch (error) {
    if (!isRefusal(error, sdk) || request.signal.aborted) throw error;
    return await greet(request, sdk, { pin: MODERN });
  }
}

async function greet(
  { config, deps, events, signal }: ConnectionRequest,
  sdk: McpSdk,
  mode: "legacy" | { readonly pin: string },
): Promise<Connection> {
  const server = createServer(config, deps, sdk);
  const client = new sdk.Client(
    { name: "reins", version: deps.version },
    {
      capabilities: { elicitation: { form: {} } },
      versionNegotiation: { mode },
      listChanged: {
        tools: { autoRefresh: false, debounceMs: 0, onChanged: events.onToolsChanged },
      },
    },
  );
  await using stack = new AsyncDisposableStack();
  const connection = stack.use(new Connection({ client, server, sdk, deps, events }));
  await connection.greet(signal);
  stack.move();
  return connection;
}

/** It is there and has answered, but not with a greeting. */
function isRefusal(error: unknown, sdk: McpSdk): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof sdk.SdkHttpError) return cause.status === 400;
  return cause instanceof sdk.ProtocolError;
}
