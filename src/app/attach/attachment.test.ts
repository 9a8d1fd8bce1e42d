import { expect, test } from "vitest";
import { Emitter } from "#base/emitter.ts";
import { ManualClock } from "#base/manual-clock.ts";
import { asFault } from "#contract/fault.ts";
import type { ServerFrame } from "#contract/frames.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { openControlOrWatch, type Role } from "./attached-control.ts";
import { Attachment, type AttachmentPeer } from "./attachment.ts";
import { binaryEncoding } from "./output-frames.ts";

const leaseHost = leaseForFile(() => openTestHost());

const HEADER_BYTES = 9;
const audit = { record: () => undefined };

/** A session that prints what it reads, and any number of clients at it. */
async function openCat() {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await leaseHost());
  const { session_id } = await host.create({ argv: ["/bin/cat"], stdin: true });
  const owner = host.hosts.of(session_id);
  const attach = async (role: Role) => {
    const handle = await owner.open(session_id);
    const client = new Client();
    const deps = { host: owner, caller: createTestCaller(), audit };
    const open = () => openControlOrWatch(deps, handle.session, { role, takeover: true });
    const { caller } = deps;
    const options = { caller, handle, since: 0, clock: new ManualClock(), open };
    const attachment = new Attachment(options, client);
    owned.defer(() => attachment[Symbol.dispose]());
    void attachment.start();
    return { attachment, client };
  };
  const owned = stack.move();
  return { host, attach, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

class Client implements AttachmentPeer {
  readonly encoding = binaryEncoding;
  readonly frames: ServerFrame[] = [];
  closed: number | undefined;
  printed = "";
  readonly outbox: AttachmentPeer["outbox"] = {
    isFull: false,
    isOpen: true,
    drained: new Emitter<void>(() => undefined),
    send: (data) => {
      this.printed += Buffer.from(data).subarray(HEADER_BYTES).toString();
    },
  };

  say(frame: ServerFrame): void {
    this.frames.push(frame);
  }

  close(code: number): void {
    this.closed ??= code;
  }

  describe = asFault;

  has(type: ServerFrame["type"]): boolean {
    return this.frames.some((frame) => frame.type === type);
  }
}

const input = (sequence: number, text: string) => ({
  ...{ sequence, id: `id_${sequence}`, bytes: Buffer.from(text) },
});

test("keys that are sent right behind a take are applied after it, in order", async () => {
  await using opened = await openCat();
  const { client: holder } = await opened.attach("controller");
  await waitFor("the first has control", () => holder.has("connected"));
  const { attachment, client } = await opened.attach("viewer");
  await Promise.all([
    attachment.receive({ type: "control", id: "take", action: "take" }),
    attachment.type(input(1, "a")),
    attachment.receive({ type: "stdin", id: "json", data: "b" }),
    attachment.type(input(2, "c")),
    attachment.receive({ type: "eof", id: "end" }),
  ]);
  await waitFor("its end", () => client.closed);
  expect(client.printed).toBe("abc");
  expect(client.frames.filter(({ type }) => type === "error")).toEqual([]);
  expect([holder.closed, client.closed]).toEqual([4001, 1000]);
});

test("keys under way are answered before a takeover closes", async () => {
  await using opened = await openCat();
  const { attachment, client } = await opened.attach("controller");
  await waitFor("it has control", () => client.has("connected"));
  const typed = Array.from({ length: 50 }, (_, at) => attachment.type(input(at + 1, "x")));
  const { client: next } = await opened.attach("controller");
  await waitFor("it was closed", () => client.closed === 4001);
  await Promise.all(typed);
  const answers = client.frames.filter(({ type }) => type === "ack" || type === "error");
  expect(answers).toHaveLength(50);
  const acknowledged = answers.filter(({ type }) => type === "ack");
  const { length } = acknowledged;
  await waitFor("what was acknowledged is printed", () => next.printed.length >= length);
  expect(next.printed).toBe("x".repeat(length));
});

test("a viewer hears who has control and types nothing", async () => {
  await using opened = await openCat();
  const { attachment, client } = await opened.attach("viewer");
  await attachment.type(input(1, "x"));
  expect(client.frames.at(-1)).toMatchObject({
    type: "error",
    sequence: 1,
    code: "not_controller",
  });
  await opened.attach("controller");
  await waitFor("the controller is known", () => client.has("control"));
  expect(client.closed).toBeUndefined();
});
