import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openWrittenSession, WRITTEN_SESSION } from "#test/harness/written-session.ts";
import { checkLength, type Part, takeTurn, typeParts } from "./typing.ts";

const text = (bytes: string): Part => ({ kind: "text", bytes });
const key = (bytes: string): Part => ({ kind: "key", bytes });

async function openTyping() {
  const session = openWrittenSession();
  const handle = await session.hosts.of(WRITTEN_SESSION).open(WRITTEN_SESSION);
  const typed: string[] = [];
  const input = async ({ data = "" }: { readonly data?: string | undefined }) => {
    typed.push(data);
    return {};
  };
  return {
    session,
    handle,
    typed,
    type: (parts: readonly Part[], signal?: AbortSignal) =>
      typeParts({ handle, clock: session.clock, input, signal }, parts),
    begun: (timers: number) => waitFor("the gap", () => session.clock.timers === timers),
    [Symbol.dispose]() {
      handle[Symbol.dispose]();
      session[Symbol.dispose]();
    },
  };
}

test("Enter waits until the program has shown what was typed and is quiet", async () => {
  using typing = await openTyping();
  const { session, typed } = typing;
  const done = typing.type([text("hello"), key("\r")]);
  await typing.begun(2);
  session.clock.advance(100);
  expect(typed).toEqual(["hello"]);
  session.print("hello");
  // The wait for the echo becomes one for silence.
  await setImmediate();
  session.clock.advance(29);
  expect(typed).toEqual(["hello"]);
  session.clock.advance(1);
  await done;
  expect(typed).toEqual(["hello", "\r"]);
});

test("who echoes nothing, or does not stop, is not waited for long", async () => {
  using typing = await openTyping();
  const { session, typed } = typing;
  const done = typing.type([text("secret"), key("\r")]);
  await typing.begun(2);
  session.clock.advance(250);
  await done;
  expect(typed).toEqual(["secret", "\r"]);
});

test("what follows Escape is not taken for a key with Alt", async () => {
  using typing = await openTyping();
  const { session, typed } = typing;
  const done = typing.type([key("\x1b"), key("o"), key("x")]);
  await typing.begun(1);
  session.print("an answer changes nothing");
  session.clock.advance(149);
  expect(typed).toEqual(["\x1b"]);
  session.clock.advance(1);
  await waitFor("the next key", () => typed.length === 2);
  await typing.begun(2);
  session.clock.advance(40);
  await done;
  expect(typed).toEqual(["\x1b", "o", "x"]);
});

test("who is cancelled types no more", async () => {
  using typing = await openTyping();
  const controller = new AbortController();
  const done = typing.type([text("a"), key("b")], controller.signal);
  await typing.begun(2);
  controller.abort(new Error("enough"));
  await expect(done).rejects.toThrow("enough");
  expect(typing.typed).toEqual(["a"]);
});

test("a refusal in the middle says how much was typed", async () => {
  using typing = await openTyping();
  const { handle, session } = typing;
  const input = async ({ data }: { readonly data?: string | undefined }) => {
    if (data === "b") throw new Fault("not_controller", "no", { details: { holder: "ann" } });
    return {};
  };
  const done = typeParts({ handle, clock: session.clock, input }, [text("a"), key("b"), key("c")]);
  const refused = expect(done).rejects.toMatchObject({
    code: "not_controller",
    message: "no (1 of 3 parts were typed before)",
    details: { holder: "ann", typed: 1, parts: 3 },
  });
  await typing.begun(2);
  session.clock.advance(250);
  await refused;
});

test("turns follow each other, also behind one that fails", async () => {
  using typing = await openTyping();
  const order: string[] = [];
  const first = Promise.withResolvers<void>();
  const one = takeTurn(typing.handle, async () => {
    await first.promise;
    order.push("one");
    throw new Error("failed");
  });
  const two = takeTurn(typing.handle, async () => void order.push("two"));
  const three = takeTurn(typing.handle, async () => void order.push("three"));
  first.resolve();
  await expect(one).rejects.toThrow("failed");
  await Promise.all([two, three]);
  expect(order).toEqual(["one", "two", "three"]);
});

test("more than a terminal takes at once is refused, counted in bytes", () => {
  checkLength([text("a".repeat(limits.input_bytes))]);
  expect(() => checkLength([text("ü".repeat(limits.input_bytes / 2)), key("\r")])).toThrow(
    expect.objectContaining({ code: "payload_too_large" }),
  );
});
