import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import type { AttachEvent } from "#client/attach/frames.ts";
import { Fault } from "#contract/fault.ts";
import { HELD_CHUNKS, REPAINT_MS } from "./key-hold.ts";
import { type TypedAttachment, Typing, type TypingOptions } from "./typing.ts";

const SIZE = { cols: 90, rows: 20 };
const settled = () => new Promise((resolve) => setImmediate(resolve));
const controlling = { type: "connected", role: "controller" } as const;
const watching = { type: "connected", role: "viewer" } as const;

/** A keyboard at an attachment that says these events and remembers what it was sent. */
function open(events: readonly Partial<AttachEvent>[], options: Partial<TypingOptions> = {}) {
  const sent: string[] = [];
  let takes: () => Promise<void> = async () => undefined;
  const attachment = {
    write: async (bytes: Buffer) => void sent.push(bytes.toString()),
    signal: async (signal: string) => void sent.push(signal),
    resize: async (cols: number, rows: number) => void sent.push(`${cols}x${rows}`),
    take: () => {
      sent.push("take");
      return takes();
    },
    detach: async () => void sent.push("detach"),
    async *[Symbol.asyncIterator]() {
      yield* events;
    },
  } as unknown as TypedAttachment;
  const clock = new ManualClock();
  const typing = new Typing(attachment, {
    role: "viewer",
    repaint: async () => undefined,
    clock,
    ...options,
  });
  const heard = typing.events();
  return {
    typing,
    sent,
    clock,
    hear: () => heard.next(),
    refuseTake: () => {
      takes = () => Promise.reject(new Fault("forbidden", "no"));
    },
  };
}

test("a client with control types and sets the size; one that watches does neither", async () => {
  const held = open([controlling]);
  await held.hear();
  held.typing.type(Buffer.from("a"));
  held.typing.resize(SIZE);
  expect(held.sent).toEqual(["a", "90x20"]);
  const watched = open([watching]);
  await watched.hear();
  watched.typing.type(Buffer.from("a"));
  watched.typing.resize(SIZE);
  watched.typing.repaint();
  expect(watched.sent).toEqual([]);
});

test("keys typed before a new session is connected are not lost", () => {
  const { typing, sent } = open([], { role: "controller" });
  typing.type(Buffer.from("early"));
  expect(sent).toEqual(["early"]);
});

test("taking control sends the size, then the keys typed meanwhile, in order", async () => {
  const { typing, sent, hear } = open([watching]);
  await hear();
  typing.type(Buffer.from("in vain"));
  typing.take(() => SIZE);
  typing.take(() => SIZE);
  typing.type(Buffer.from("a"));
  typing.type(Buffer.from("b"));
  await settled();
  typing.type(Buffer.from("c"));
  expect(sent).toEqual(["take", "90x20", "a", "b", "c"]);
});

test("a take that is refused leaves the client watching, and it may be tried again", async () => {
  const { typing, sent, hear, refuseTake } = open([watching]);
  await hear();
  refuseTake();
  typing.take(() => SIZE);
  await settled();
  typing.type(Buffer.from("in vain"));
  typing.take(() => SIZE);
  expect(sent).toEqual(["take", "90x20", "take", "90x20"]);
});

test("a client that lost control types nothing until it has taken it back", async () => {
  const { typing, sent, hear } = open([controlling, { type: "taken_over" }]);
  await hear();
  await hear();
  typing.type(Buffer.from("in vain"));
  typing.take(() => SIZE);
  typing.type(Buffer.from("a"));
  expect(sent).toEqual(["take", "90x20", "a"]);
});

test("keys typed after a request to repaint wait until the program has printed", async () => {
  const { typing, sent, hear } = open([controlling]);
  await hear();
  typing.repaint();
  typing.type(Buffer.from("a"));
  expect(sent).toEqual(["SIGWINCH"]);
  typing.printed();
  typing.type(Buffer.from("b"));
  expect(sent).toEqual(["SIGWINCH", "a", "b"]);
});

test("keys that are held back are sent after a second, when there are many, and before the user detaches", async () => {
  const { typing, sent, hear, clock } = open([controlling]);
  await hear();
  typing.repaint();
  typing.type(Buffer.from("a"));
  clock.advance(REPAINT_MS);
  expect(sent).toEqual(["SIGWINCH", "a"]);
  typing.repaint();
  for (let count = 0; count < HELD_CHUNKS; count += 1) typing.type(Buffer.from("b"));
  expect(sent.slice(2)).toEqual(["SIGWINCH", ...Array.from({ length: HELD_CHUNKS }, () => "b")]);
  typing.repaint();
  typing.type(Buffer.from("c"));
  await typing.leave();
  expect(sent.slice(-3)).toEqual(["SIGWINCH", "c", "detach"]);
});

test("a client that only watches asks for a repaint where that needs no control", async () => {
  const asked: string[] = [];
  const repaint = async () => void asked.push("repaint");
  const { typing, hear } = open([watching], { repaint });
  await hear();
  typing.repaint();
  expect(asked).toEqual(["repaint"]);
});
