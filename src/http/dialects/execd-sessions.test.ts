import { expect, test } from "vitest";
import type { Gateway } from "#app/gateway.ts";
import { systemClock } from "#base/clock.ts";
import { Fault } from "#contract/fault.ts";
import { ShellId } from "#contract/ids.ts";
import type { Shell } from "#contract/shell.ts";
import { RequestCounts } from "#http/metrics.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { openTestHost, type TestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { planExecdSocket } from "./execd-attach.ts";
import { deleteSession } from "./execd-sessions.ts";
import { findInteractive, startInteractive } from "./interactive-shell.ts";

const leaseHost = leaseForFile(() => openTestHost());

/** What happens between the steps of a deletion and of a first attach, on a real host, with shells that a test steers. */

const caller = createTestCaller();
const shell: Shell = {
  shell_id: ShellId.parse("shl_0123456789abcdef"),
  workspace_id: caller.workspace_id,
  user_id: null,
  work_dir: "/",
  created_at: new Date(0).toISOString(),
  last_run_at: null,
  running_session_id: null,
};

interface Steered {
  readonly get?: () => Shell;
  readonly close?: () => Promise<void>;
}

function createGateway(
  { hosts }: TestHost,
  { get = () => shell, close = async () => undefined }: Steered,
) {
  const operations = {
    "shell.get": async () => get(),
    "shell.close": async () => {
      await close();
      return {};
    },
  };
  const audit = { record: () => undefined };
  // The parts that a deletion and an attach ask for.
  const { where } = caller;
  return { hosts, audit, where, operations: () => operations } as unknown as Gateway;
}

function contextOf(gateway: Gateway) {
  const operations = gateway.operations(caller);
  const { signal } = new AbortController();
  return { gateway, operations, caller, clock: systemClock, signal, headers: new Headers() };
}

const stateOf = async (gateway: Gateway) => (await findInteractive(gateway, shell))?.state.kind;

test("a shell that is started while its session is deleted is ended by the deletion", async () => {
  await using host = await leaseHost();
  const gateway: Gateway = createGateway(host, {
    close: async () => void (await startInteractive(gateway, caller, { shell, pty: false })),
  });
  await deleteSession(contextOf(gateway), shell.shell_id);
  expect(await stateOf(gateway)).toBe("exited");
});

test("a deletion that breaks off has ended the shell, so that none is left without its session", async () => {
  await using host = await leaseHost();
  const gateway = createGateway(host, {
    close: async () => {
      throw new Fault("host_unavailable", "gone");
    },
  });
  await startInteractive(gateway, caller, { shell, pty: false });
  const deleted = deleteSession(contextOf(gateway), shell.shell_id);
  await expect(deleted).rejects.toMatchObject({ code: "host_unavailable" });
  expect(await stateOf(gateway)).toBe("exited");
});

test("an attach that finds its session deleted ends the shell that it has started", async () => {
  await using host = await leaseHost();
  let looks = 0;
  const gateway = createGateway(host, {
    get: () => {
      looks += 1;
      if (looks === 1) return shell;
      throw new Fault("shell_not_found", "deleted", { details: { shell_id: shell.shell_id } });
    },
  });
  const onError = (error: unknown) => {
    throw error;
  };
  const outbox = { clock: systemClock, counts: new RequestCounts(), onError };
  const attached = planExecdSocket({ gateway, outbox, onError }, caller, { id: shell.shell_id });
  await expect(attached).rejects.toMatchObject({ code: "shell_not_found" });
  expect(await stateOf(gateway)).toBe("exited");
});
