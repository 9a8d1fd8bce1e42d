import { expect, test } from "vitest";
import type { AuditedAction } from "#app/audit.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost } from "#test/harness/host.ts";
import { openSeat } from "./seat.ts";

async function open() {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await openTestHost());
  const session = await host.create({ kind: "terminal", argv: ["/bin/cat"] });
  const { session_id } = session;
  const told: AuditedAction[] = [];
  const audit = { record: (done: AuditedAction) => void told.push(done) };
  const look = () => host.client.call("session.get", { session_id });
  const sit = async (
    user_id: string,
    request: { role: "viewer" | "controller"; takeover: boolean },
  ) =>
    openSeat(
      { host: host.hosts.of(session_id), caller: createTestCaller({ user_id }), audit },
      await look(),
      request,
    );
  const owned = stack.move();
  return { sit, look, told, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const holding = { role: "controller", takeover: false } as const;

test("who watches changes nothing until he takes control, and nothing after he gave it back", async () => {
  await using opened = await open();
  const seat = await opened.sit("ann", { role: "viewer", takeover: false });
  const refused = expect.objectContaining({ code: "not_controller" });
  const attempts = () => [
    seat.type(Buffer.from("x"), undefined),
    seat.eof(undefined),
    seat.resize(90, 20),
    seat.signal("SIGCONT"),
  ];
  for (const attempt of attempts()) await expect(attempt).rejects.toEqual(refused);
  expect([seat.role, await seat.take()]).toEqual(["viewer", 1]);
  expect(seat.role).toBe("controller");
  await seat.resize(90, 20);
  await seat.release();
  for (const attempt of attempts()) await expect(attempt).rejects.toEqual(refused);
  expect(await opened.look()).toMatchObject({ cols: 90, rows: 20, tail: 0, controller: null });
});

test("who lost control to another learns it once, and what he still sends is refused", async () => {
  await using opened = await open();
  const first = await opened.sit("ann", holding);
  await expect(opened.sit("bob", holding)).rejects.toMatchObject({ code: "not_controller" });
  const second = await opened.sit("bob", { role: "controller", takeover: true });
  await expect(first.type(Buffer.from("late"), undefined)).rejects.toMatchObject({
    code: "not_controller",
  });
  const session = await opened.look();
  expect([first.isTaken(session), first.isTaken(session), first.role]).toEqual([
    true,
    false,
    "viewer",
  ]);
  expect([second.isTaken(session), second.role]).toEqual([false, "controller"]);
});

test("what was done is written down as counts when he leaves, and control is free again", async () => {
  await using opened = await open();
  const seat = await opened.sit("ann", holding);
  await seat.type(Buffer.from("hidden"), "1");
  await seat.type(Buffer.from("words"), "2");
  await seat.resize(90, 20);
  await seat.resize(91, 21);
  await seat[Symbol.asyncDispose]();
  await seat[Symbol.asyncDispose]();
  expect(opened.told.map(({ action, details }) => [action, details])).toEqual([
    ["session.attached", { role: "controller" }],
    ["session.wrote", { inputs: 2, bytes: 11 }],
    ["session.resized", { times: 2, cols: 91, rows: 21 }],
    ["session.detached", {}],
  ]);
  await waitFor("nobody holds it", async () => (await opened.look()).controller === null);
  expect((await opened.look()).viewers).toBe(0);
});
