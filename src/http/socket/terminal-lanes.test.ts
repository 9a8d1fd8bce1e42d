import { expect, test } from "vitest";
import { Emitter } from "#base/emitter.ts";
import { type Lane, Lanes } from "./terminal-lanes.ts";

const ROOM = 4;

/** An outbox with room for a few frames, which the test empties. */
function createOutbox() {
  const sent: string[] = [];
  let unsent = 0;
  return {
    sent,
    isOpen: true,
    drained: new Emitter<void>((error) => {
      throw error;
    }),
    get isFull() {
      return unsent >= ROOM;
    },
    send(data: string | Buffer) {
      unsent += 1;
      sent.push(String(data));
    },
    /** A large frame has gone: room for several at once. */
    takeAtOnce(count: number) {
      unsent -= count;
      this.drained.emit();
    },
    take(count: number) {
      for (let taken = 0; taken < count; taken += 1) {
        const wasFull = this.isFull;
        unsent -= 1;
        if (wasFull && !this.isFull) this.drained.emit();
      }
    },
  };
}

/** Sends whenever it may, as a pump does, so many frames in all. */
function send(lane: Lane, name: string, frames: number): void {
  let left = frames;
  const pump = () => {
    for (; left > 0 && !lane.outbox.isFull; left -= 1) lane.outbox.send(name);
  };
  lane.outbox.drained.on(pump);
  pump();
}

function openLanes() {
  const outbox = createOutbox();
  const lanes = new Lanes(outbox, (error) => {
    throw error;
  });
  return { outbox, lanes };
}

test("one alone has all the room", () => {
  const { outbox, lanes } = openLanes();
  send(lanes.open(), "a", 100);
  expect(outbox.sent.join("")).toBe("aaaa");
  outbox.take(3);
  expect(outbox.sent.join("")).toBe("aaaaaaa");
});

test("who comes while another floods is sent with the next room", () => {
  const { outbox, lanes } = openLanes();
  send(lanes.open(), "a", 100);
  send(lanes.open(), "b", 1);
  send(lanes.open(), "c", 2);
  outbox.take(6);
  expect(outbox.sent.join("")).toBe("aaaaabcaca");
});

test("those who flood get one frame each in turn", () => {
  const { outbox, lanes } = openLanes();
  for (const name of ["a", "b", "c"]) send(lanes.open(), name, 100);
  outbox.take(9);
  expect(outbox.sent.slice(ROOM).join("")).toBe("abcabcabc");
});

test("room for several is shared as well", () => {
  const { outbox, lanes } = openLanes();
  for (const name of ["a", "b"]) send(lanes.open(), name, 100);
  outbox.takeAtOnce(ROOM);
  expect(outbox.sent.slice(ROOM).join("")).toBe("abab");
});

test("one that has left has no turn", () => {
  const { outbox, lanes } = openLanes();
  const gone = lanes.open();
  send(gone, "a", 100);
  send(lanes.open(), "b", 100);
  gone[Symbol.dispose]();
  outbox.take(2);
  expect(outbox.sent.slice(ROOM).join("")).toBe("bb");
});

test("a lane that leaves in its own turn does not come back", () => {
  const { outbox, lanes } = openLanes();
  send(lanes.open(), "a", 100);
  const brief = lanes.open();
  brief.outbox.drained.on(() => {
    brief.outbox.send("end");
    brief[Symbol.dispose]();
  });
  outbox.take(4);
  expect(outbox.sent.filter((frame) => frame === "end")).toHaveLength(1);
});

test("with nothing to send the turns end", () => {
  const { outbox, lanes } = openLanes();
  send(lanes.open(), "a", ROOM);
  send(lanes.open(), "b", 0);
  outbox.take(2);
  expect(outbox.sent).toHaveLength(ROOM);
});
