import { expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost } from "#test/harness/host.ts";
import { findProcesses } from "#test/harness/processes.ts";

/** Every way out of a session that we know of, each holding a `sleep` that can be found from outside. */
function escapes(marker: string): string {
  const sleep = `sleep ${marker}`;
  return [
    `nohup ${sleep} >/dev/null 2>&1 &`,
    `setsid ${sleep} &`,
    `${sleep} & disown`,
    `(setsid sh -c '${sleep} & exit' &)`,
    `(trap '' HUP TERM INT; exec ${sleep}) &`,
    `env -i setsid ${sleep} &`,
    `(env -i setsid sh -c '${sleep} </dev/null >/dev/null 2>&1 & exit' </dev/null >/dev/null 2>&1 &)`,
    `(${sleep} & kill -STOP $!) &`,
    `exec ${sleep}`,
  ].join("\n");
}

const MEMBERS = 9;

test.each(["terminal", "command"] as const)(
  "closing a %s ends every kind of escapee, and nobody else",
  async (kind) => {
    await using host = await openTestHost();
    const marker = `31${process.pid}.${kind === "terminal" ? 25 : 75}`;
    const innocent = `41${process.pid}.${kind === "terminal" ? 25 : 75}`;
    const other = await host.create({
      kind,
      argv: ["bash", "-c", `env -i setsid sleep ${innocent} & exec sleep ${innocent}`],
    });
    const { session_id } = await host.create({ kind, argv: ["bash", "-c", escapes(marker)] });
    await waitFor(
      "every member of the tree",
      () => findProcesses(`sleep ${marker}`).length >= MEMBERS,
    );
    await waitFor("the other session's tree", () => findProcesses(`sleep ${innocent}`).length >= 2);
    const closed = await host.client.call("session.close", { session_id });
    expect(closed.state).toMatchObject({ kind: "exited", reason: "user_requested" });
    expect(closed.state).not.toHaveProperty("survivors");
    expect(findProcesses(`sleep ${marker}`)).toEqual([]);
    expect(findProcesses(`sleep ${innocent}`).length).toBe(2);
    await host.client.call("session.close", { session_id: other.session_id });
    expect(findProcesses(`sleep ${innocent}`)).toEqual([]);
  },
);

test("30 sessions with stubborn trees close together", async () => {
  await using host = await openTestHost();
  const marker = `51${process.pid}.5`;
  const command = `trap '' HUP; setsid sleep ${marker} & sleep ${marker} & wait`;
  const opened = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      host.create({ kind: at % 2 === 0 ? "terminal" : "command", argv: ["bash", "-c", command] }),
    ),
  );
  await waitFor("all trees", () => findProcesses(`sleep ${marker}`).length >= 60);
  const closed = await Promise.all(
    opened.map(({ session_id }) => host.client.call("session.close", { session_id })),
  );
  expect(findProcesses(`sleep ${marker}`)).toEqual([]);
  for (const session of closed) expect(session.state.kind).toBe("exited");
});

test("what the child left running is counted and ended by a later close", async () => {
  await using host = await openTestHost();
  const marker = `61${process.pid}.5`;
  const { session_id } = await host.create({
    command: `setsid sleep ${marker} >/dev/null 2>&1 & exit 0`,
  });
  using watch = await host.client.watch(session_id);
  await watch.until(({ session }) => session.state.kind === "exited");
  await waitFor("the leftover", () => findProcesses(`sleep ${marker}`).length === 1);
  expect(await host.client.call("session.tree", { session_id })).toEqual({ processes: 1 });
  await host.client.call("session.close", { session_id });
  expect(findProcesses(`sleep ${marker}`)).toEqual([]);
});
