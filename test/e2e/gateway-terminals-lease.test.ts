import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLogger } from "#base/logger.ts";
import { ManualClock } from "#base/manual-clock.ts";
import { limits } from "#contract/limits.ts";
import { openGateway } from "#daemon/gateway/open-gateway.ts";
import { locateDataDir } from "#host/data-dir.ts";
import { connectHost } from "#host/socket/connect-host.ts";
import { openHttpServer } from "#http/server.ts";
import { openLocalHosts } from "#session/local-host.ts";
import { openStore } from "#store/store.ts";
import { callerEnvironment } from "#test/harness/caller.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTask, openTerminals } from "#test/harness/gateway/terminals.ts";
import { openDoor } from "#test/harness/gateway.ts";
import { openTestHost } from "#test/harness/host.ts";

test("a client that is there and says nothing keeps control of all its terminals", async () => {
  await using host = await openTestHost();
  await using stack = new AsyncDisposableStack();
  const clock = new ManualClock();
  const { dataDir } = host;
  const store = stack.use(openStore({ path: join(dataDir, "reins.db"), clock }));
  const renewed: number[] = [];
  const { secret } = store.tokens.create({
    label: "",
    user_id: "ada",
    role: "admin",
    workspaces: "*",
  });
  const gateway = stack.use(
    openGateway({
      store,
      hosts: stack.use(
        openLocalHosts({
          sessionsFolder: host.sessions,
          open: async () => {
            const client = await connectHost(locateDataDir(dataDir).socket);
            const call = client.call.bind(client);
            client.call = (method, params) => {
              if (method === "session.renew" && params !== undefined && "attachment" in params)
                renewed.push(params.attachment);
              return call(method, params);
            };
            return client;
          },
        }),
      ),
      dataDir,
      sessionsFolder: host.sessions,
      clock,
      log: silentLogger,
      version: "test",
      where: { env: callerEnvironment(), work_dir: "/", umask: undefined },
      taskIdleMs: 0,
      shell: undefined,
      defaultWaitMs: 1000,
      isStopping: () => false,
      command: [],
      keyEnv: {},
      teams: { folder: dataDir, named: {}, roots: [] },
    }),
  );
  const place = { hostname: "127.0.0.1", port: 0 };
  const server = stack.use(await openHttpServer({ gateway, clock, log: silentLogger, ...place }));
  const door = openDoor(server.url, secret);
  using task = await openTask(door);
  const client = stack.use(await openTerminals(door));
  await client.open(task);
  await client.open(task);
  clock.advance(limits.lease_ms / 2);
  await waitFor("both are renewed", () => new Set(renewed).size === 2);
  expect(renewed).toHaveLength(2);
});
