import { join } from "node:path";
import { silentLogger } from "#base/logger.ts";
import { type Binding, findBinding } from "#host/find-binding.ts";
import { openSecrets, type Secrets } from "#host/secrets.ts";
import type { HostClient } from "#host/socket/client.ts";
import { connectHost } from "#host/socket/connect-host.ts";
import type { HostHealth } from "#host/socket/methods.ts";
import { type HostServer, openHostServer } from "#host/socket/server.ts";
import { openTestSessions, type TestSessions } from "./open-test-sessions.ts";

export interface BoundHost extends AsyncDisposable {
  readonly host: TestSessions;
  readonly server: HostServer;
  readonly secrets: Secrets;
  readonly secretsFolder: string;
  readonly path: string;
  /** As the user's. */
  user(): Promise<HostClient>;
  /** As a session's, by the file that the host gave it. */
  session(sessionId: string): Promise<HostClient>;
  connect(binding: Binding | undefined): Promise<HostClient>;
}

const HEALTH: HostHealth = {
  pid: 1,
  version: "test",
  uptime_ms: 0,
  sessions: 1000,
  live: 1000,
  live_cap: 1000,
  connections: 1000,
  descriptors: null,
  memory_bytes: 0,
  free_disk_bytes: null,
  errors: 7,
  last_error: "of another session",
  unreadable: ["ses_another"],
  log_faults: 1000,
};

/** A host's socket over scripted children, where connections are bound by real secrets. */
export async function openBoundHost(): Promise<BoundHost> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(openTestSessions());
  const secretsFolder = join(folder.folder, "secrets");
  const secrets = openSecrets(secretsFolder);
  const host = stack.use(openTestSessions({ secrets }));
  const path = join(folder.folder, "s");
  const server = stack.use(
    await openHostServer(path, {
      ...{ sessions: host.sessions, secrets, log: silentLogger, version: "test" },
      health: () => HEALTH,
      shutdown: () => undefined,
      upgrade: () => Promise.reject(new Error("this test has no other program")),
      onConnections: () => undefined,
    }),
  );
  const owned = stack.move();
  const connect: BoundHost["connect"] = async (binding) =>
    owned.use(await connectHost(path, { findBinding: () => binding }));
  const find = (env: Record<string, string>) => findBinding({ secrets: secretsFolder }, env);
  return {
    ...{ host, server, secrets, secretsFolder, path, connect },
    user: () => connect(find({})),
    session: (sessionId) => {
      secrets.give(sessionId);
      return connect(find({ REINS_BOUND_SESSION_ID: sessionId }));
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
