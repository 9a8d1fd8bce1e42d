import { expect, test } from "vitest";
import type { AuditedAction } from "#app/audit.ts";
import { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import type { SessionHost } from "#session/session-host.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { openControl } from "./attached-control.ts";

const leaseHost = leaseForFile(() => openTestHost());

async function open() {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await leaseHost());
  const session = await host.create({ kind: "terminal", argv: ["/bin/cat"] });
  const { session_id } = session;
  const told: AuditedAction[] = [];
  const audit = { record: (done: AuditedAction) => void told.push(done) };
  const look = () => host.client.call("session.get", { session_id });
  const attach = async (
    user_id: string,
    request: { role: "viewer" | "controller"; takeover: boolean },
  ) =>
    openControl(
      { host: host.hosts.of(session_id), caller: createTestCaller({ user_id }), audit },
      await look(),
      request,
    );
  const owned = stack.move();
  return { attach, look, told, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const holding = { role: "controller", takeover: false } as const;

test("who watches changes nothing until he takes control, and nothing after he gave it back", async () => {
  await using opened = await open();
  const attachment = await opened.attach("ann", { role: "viewer", takeover: false });
  const refused = expect.objectContaining({ code: "not_controller" });
  const attempts = () => [
    attachment.type(Buffer.from("x")),
    attachment.eof(),
    attachment.resize(90, 20),
    attachment.signal("SIGCONT"),
  ];
  for (const attempt of attempts()) await expect(attempt).rejects.toEqual(refused);
  expect(attachment.role).toBe("viewer");
  await attachment.take();
  expect(attachment.generation).toBe(1);
  expect(attachment.role).toBe("controller");
  await attachment.resize(90, 20);
  await attachment.release();
  for (const attempt of attempts()) await expect(attempt).rejects.toEqual(refused);
  expect(await opened.look()).toMatchObject({ cols: 90, rows: 20, tail: 0, controller: null });
});

test("who lost control to another learns it once, and what he still sends is refused", async () => {
  await using opened = await open();
  const first = await opened.attach("ann", holding);
  await expect(opened.attach("bob", holding)).rejects.toMatchObject({ code: "not_controller" });
  const second = await opened.attach("bob", { role: "controller", takeover: true });
  await expect(first.type(Buffer.from("late"))).rejects.toMatchObject({
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
  const attachment = await opened.attach("ann", holding);
  await attachment.type(Buffer.from("hidden"), { inputId: "1" });
  await attachment.type(Buffer.from("words"), { inputId: "2" });
  await attachment.resize(90, 20);
  await attachment.resize(91, 21);
  await attachment[Symbol.asyncDispose]();
  await attachment[Symbol.asyncDispose]();
  expect(opened.told.map(({ action, details }) => [action, details])).toEqual([
    ["session.attached", { role: "controller" }],
    ["session.wrote", { inputs: 2, bytes: 11 }],
    ["session.resized", { times: 2, cols: 91, rows: 21 }],
    ["session.detached", {}],
  ]);
  await waitFor("nobody holds it", async () => (await opened.look()).controller === null);
  expect((await opened.look()).viewers).toBe(0);
});

test("a lease that ran out is taken again, unless another client has control", async () => {
  const asked: string[] = [];
  let isFree = true;
  const attachment = {
    generation: 1,
    renew: async () => false,
    take: async ({ takeover }: { readonly takeover: boolean }) => {
      asked.push(takeover ? "takeover" : "take");
      if (!isFree) throw new Fault("not_controller", "bob controls this session");
      return 2;
    },
    type: async ({ generation }: { readonly generation: number }) =>
      void asked.push(`type ${generation}`),
  };
  const host = { attach: async () => attachment } as unknown as SessionHost;
  const deps = { host, caller: createTestCaller(), audit: { record: () => undefined } };
  const session = { session_id: "ses_0123456789abcdef", controller: null } as unknown as Session;
  const control = await openControl(deps, session, holding);
  const renewed = control.renew();
  await Promise.resolve();
  // A key typed meanwhile waits for it.
  await Promise.all([renewed, control.type(Buffer.from("x"))]);
  expect([asked, control.generation]).toEqual([["take", "type 2"], 2]);
  isFree = false;
  await expect(control.renew()).rejects.toMatchObject({ code: "not_controller" });
  expect(control.role).toBe("viewer");
});
