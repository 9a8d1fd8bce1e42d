import { expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import { ShellId } from "#contract/ids.ts";
import type { Shell } from "#contract/shell.ts";
import type { SessionHosts } from "#session/session-host.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { openTestHost, type TestHost } from "#test/harness/host.ts";
import { hostsWith } from "#test/harness/hosts-with.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { findInteractive, startInteractive } from "./interactive-shell.ts";

const leaseHost = leaseForFile(() => openTestHost());

const audit = { record: () => undefined };

function createShellOf(host: TestHost): Shell {
  return {
    shell_id: ShellId.parse("shl_0123456789abcdef"),
    workspace_id: createTestCaller().workspace_id,
    user_id: null,
    work_dir: host.dataDir,
    created_at: new Date(0).toISOString(),
    last_run_at: null,
    running_session_id: null,
  };
}

/** A host on a system without PTYs. */
function withoutPty({ hosts }: TestHost): SessionHosts {
  const [host] = hosts.all();
  return hostsWith(hosts, {
    call: async (method, params) => {
      if (method === "session.create" && params && "kind" in params && params.kind === "terminal")
        throw new Fault("unsupported_os", "there are no terminals on this system");
      return await host.call(method, params);
    },
  });
}

const { where } = createTestCaller();

test("where there is no PTY the shell has pipes, and says so", async () => {
  await using host = await leaseHost();
  const deps = { hosts: withoutPty(host), audit, where };
  const shell = createShellOf(host);
  const session = await startInteractive(deps, createTestCaller(), { shell, pty: true });
  expect([session.mode, session.state.kind]).toEqual(["pipe", "running"]);
  expect(await findInteractive(deps, shell)).toMatchObject({ session_id: session.session_id });
});

test("another reason why it cannot start is told", async () => {
  await using host = await leaseHost();
  const deps = { hosts: host.hosts, audit, where };
  const shell = { ...createShellOf(host), work_dir: "/no/such/directory" };
  const started = startInteractive(deps, createTestCaller(), { shell, pty: true });
  await expect(started).rejects.toMatchObject({ code: "spawn_failed" });
  expect(await findInteractive(deps, shell)).toBeUndefined();
});

test("whoever asks gets the same shell, in the mode of the first", async () => {
  await using host = await leaseHost();
  const deps = { hosts: host.hosts, audit, where };
  const shell = createShellOf(host);
  const start = (user_id: string, pty: boolean) =>
    startInteractive(deps, createTestCaller({ user_id, token_id: user_id }), { shell, pty });
  const started = await Promise.all([start("a", true), start("b", false), start("c", true)]);
  expect(new Set(started.map(({ session_id }) => session_id)).size).toBe(1);
  expect(started.map(({ mode }) => mode)).toEqual(["pty", "pty", "pty"]);
});
