import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import type { RemotePlace } from "#cli/place/place.ts";
import type { AttachEvent } from "#client/attach/frames.ts";
import type { Session } from "#contract/session.ts";
import { RemoteSeat } from "./remote-seat.ts";

/** A seat at a server that says these events and remembers what it was sent. */
function openSeat(events: readonly Partial<AttachEvent>[]) {
  const sent: string[] = [];
  const attachment = {
    write: async (bytes: Buffer) => void sent.push(bytes.toString()),
    signal: async (signal: string) => void sent.push(signal),
    detach: async () => void sent.push("detach"),
    async *[Symbol.asyncIterator]() {
      yield* events;
    },
  };
  const place = { attach: () => attachment } as unknown as Pick<RemotePlace, "attach">;
  const session = { session_id: "ses_0123456789abcdef" } as Pick<Session, "session_id">;
  const request = { role: "controller", takeover: false, since: 0 } as const;
  const seat = new RemoteSeat({ place, clock: new ManualClock() }, session, request);
  return { seat, sent, events: seat.events() };
}

test("keys typed after a request to repaint wait until the program behind the server has printed", async () => {
  const said = [{ type: "restored", role: "controller" }, { type: "output" }] as const;
  const { seat, sent, events } = openSeat(said);
  await events.next();
  seat.repaint();
  seat.type(Buffer.from("a"));
  expect(sent).toEqual(["SIGWINCH"]);
  await events.next();
  seat.type(Buffer.from("b"));
  expect(sent).toEqual(["SIGWINCH", "a", "b"]);
});

test("keys that are held back are sent to the server before the user detaches", async () => {
  const { seat, sent, events } = openSeat([{ type: "restored", role: "controller" }]);
  await events.next();
  seat.repaint();
  seat.type(Buffer.from("a"));
  await seat.leave();
  expect(sent).toEqual(["SIGWINCH", "a", "detach"]);
});
