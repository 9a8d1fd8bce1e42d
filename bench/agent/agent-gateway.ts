import { openTempGateway, type TempGateway } from "#bench/gateway/temp-gateway.ts";
import { type Client, createClient } from "#client/client.ts";
import { openRemoteBackend } from "#client/runtime.ts";
import type { SessionId } from "#contract/ids.ts";
import type { Runtime } from "#contract/runtime/runtime.ts";

export interface AgentGateway extends AsyncDisposable {
  readonly gateway: TempGateway;
  readonly client: Client;
  createAgent(team: string): Promise<BenchAgent>;
}

export interface BenchAgent {
  readonly runtime: Runtime;
  readonly session_id: SessionId;
}

/** A gateway and a host, each a process of its own, and the client that anybody would use. */
export async function openAgentGateway(): Promise<AgentGateway> {
  const gateway = await openTempGateway();
  const { url, token } = gateway;
  const client = createClient({ url, token });
  const backend = openRemoteBackend(client);
  return {
    gateway,
    client,
    createAgent: async (yaml) => {
      const runtime = await backend.create({ source: { kind: "inline", yaml }, working_dir: "/" });
      // Ids are branded where they are made.
      return { runtime, session_id: runtime.session_id as SessionId };
    },
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

/** The worker's pid; the session has one as long as it runs. */
export async function findWorker(
  { client }: AgentGateway,
  { session_id }: BenchAgent,
): Promise<number> {
  const { pid } = await client.call("session.get", { session_id });
  if (pid === null) throw new Error(`${session_id} has no worker`);
  return pid;
}
