import { createBackend } from "#contract/runtime/create-backend.ts";
import type { RuntimeBackend } from "#contract/runtime/runtime.ts";
import type { Client } from "./client.ts";

/**
 * Agents behind a server. Streams live as long as they are read, whatever a request may take; a server that cannot be
 * reached is a Fault `host_unavailable` with its cause, and nothing has changed then.
 */
export function openRemoteBackend(client: Client): RuntimeBackend {
  return createBackend({ call: client.call, stream: client.stream });
}
