import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import type { HostAttachment } from "#session/session-host.ts";
import { HELD_CHUNKS, REPAINT_MS } from "./key-hold.ts";
import { Seat, type SeatDeps } from "./seat.ts";

type Answer = (method: string, params: Record<string, unknown>) => unknown;

const SIZE = { cols: 90, rows: 20 };
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A seat at a host that answers as the test says and remembers what it was asked. */
function openSeat(generation: number | undefined, answer: Answer = () => ({})) {
  const calls: string[] = [];
  const errors: unknown[] = [];
  const call = async (method: string, params: Record<string, unknown>) => {
    const { session_id: _, attachment: __, ...rest } = params;
    calls.push(`${method} ${JSON.stringify(rest)}`);
    return await answer(method, params);
  };
  const host = { call } as unknown as SeatDeps["host"];
  const clock = new ManualClock();
  const seat = new Seat({ host, attachment: createAttachment(call, generation), clock });
  seat.onError = (error) => errors.push(error);
  return { seat, calls, errors, clock };
}

/** What each request of an attachment says to the host. */
function createAttachment(call: Answer, generation: number | undefined): HostAttachment {
  const ask = async (method: string, params: Record<string, unknown>) => {
    await call(method, params);
  };
  // A seat asks for nothing else.
  return {
    ...{ session: createSession(null), generation },
    type: ({ bytes, generation }) =>
      ask("session.input", { data_b64: Buffer.from(bytes).toString("base64"), generation }),
    resize: (size) => ask("session.resize", { ...size }),
    take: async ({ takeover }) =>
      ((await call("session.take", { takeover })) as { generation: number }).generation,
    renew: async () => ((await call("session.renew", {})) as { held: boolean }).held,
  } as HostAttachment;
}

function createSession(controller: Session["controller"]): Session {
  // A seat looks at nothing else of it.
  return { session_id: "ses_0123456789abcdef", controller } as Session;
}

const typed = (text: string, generation: number) =>
  `session.input {"data_b64":"${Buffer.from(text).toString("base64")}","generation":${generation}}`;

test("who holds control types and sets the size", () => {
  const { seat, calls } = openSeat(3);
  seat.type(Buffer.from("a"));
  seat.resize(SIZE);
  expect(calls).toEqual([typed("a", 3), 'session.resize {"cols":90,"rows":20,"generation":3}']);
});

test("who only watches does neither", () => {
  const { seat, calls } = openSeat(undefined);
  seat.type(Buffer.from("a"));
  seat.resize(SIZE);
  expect(calls).toEqual([]);
});

test("what is typed behind the key that takes control arrives behind it", async () => {
  const { seat, calls } = openSeat(undefined, (method) =>
    method === "session.take" ? { generation: 5 } : {},
  );
  seat.type(Buffer.from("before"));
  seat.take(() => SIZE);
  seat.take(() => SIZE);
  seat.type(Buffer.from("a"));
  seat.type(Buffer.from("b"));
  await settled();
  seat.type(Buffer.from("c"));
  expect(calls).toEqual([
    'session.take {"takeover":true}',
    'session.resize {"cols":90,"rows":20,"generation":5}',
    typed("a", 5),
    typed("b", 5),
    typed("c", 5),
  ]);
});

test("what was typed for a control that is refused goes nowhere", async () => {
  const { seat, calls, errors } = openSeat(undefined, () => {
    throw new Fault("already_exited", "it has ended");
  });
  seat.take(() => SIZE);
  seat.type(Buffer.from("a"));
  await settled();
  seat.type(Buffer.from("b"));
  expect(calls).toEqual(['session.take {"takeover":true}']);
  expect(errors).toEqual([]);
});

test("who has control does not take it from himself", () => {
  const { seat, calls } = openSeat(3);
  seat.take(() => SIZE);
  expect(calls).toEqual([]);
});

test("a loss of control is told once and ends the typing", () => {
  const { seat, calls } = openSeat(3);
  expect(seat.lostTo(createSession(null))).toBeUndefined();
  expect(seat.lostTo(createSession({ holder: "us", generation: 3 }))).toBeUndefined();
  expect(seat.lostTo(createSession({ holder: "late news", generation: 2 }))).toBeUndefined();
  expect(seat.lostTo(createSession({ holder: "other", generation: 4 }))).toBe("other");
  expect(seat.lostTo(createSession({ holder: "other", generation: 4 }))).toBeUndefined();
  seat.type(Buffer.from("a"));
  expect(calls).toEqual([]);
});

test("a lease that has run out is taken again, not by force", async () => {
  const { seat, calls } = openSeat(3, (method) =>
    method === "session.renew" ? { held: false } : { generation: 4 },
  );
  seat.renew();
  await settled();
  seat.type(Buffer.from("a"));
  expect(calls).toEqual(["session.renew {}", 'session.take {"takeover":false}', typed("a", 4)]);
});

test("a lease that is held, and a watcher's, are left as they are", async () => {
  const holder = openSeat(3, () => ({ held: true }));
  const watcher = openSeat(undefined, () => ({ held: false }));
  for (const { seat } of [holder, watcher]) seat.renew();
  await settled();
  expect(holder.calls).toEqual(["session.renew {}"]);
  expect(watcher.calls).toEqual(["session.renew {}"]);
});

test("what can be expected is passed over, the rest is told", async () => {
  const error = new Fault("internal", "a bug");
  const answers = [
    "not_controller",
    "session_not_found",
    "host_unavailable",
    "queue_full",
  ] as const;
  for (const code of answers) {
    const { seat, errors } = openSeat(3, () => {
      throw new Fault(code, "");
    });
    seat.type(Buffer.from("a"));
    await settled();
    expect(errors).toEqual([]);
  }
  const { seat, errors } = openSeat(3, () => {
    throw error;
  });
  seat.repaint();
  await settled();
  expect(errors).toEqual([error]);
});

const REPAINT = 'session.signal {"signal":"SIGWINCH"}';

test("keys typed after a request to repaint wait until the program has printed", () => {
  const { seat, calls } = openSeat(3);
  seat.repaint();
  seat.type(Buffer.from("a"));
  seat.type(Buffer.from("b"));
  expect(calls).toEqual([REPAINT]);
  seat.printed();
  seat.type(Buffer.from("c"));
  expect(calls).toEqual([REPAINT, typed("a", 3), typed("b", 3), typed("c", 3)]);
});

test("a program that does not repaint gets the keys a moment later", () => {
  const { seat, calls, clock } = openSeat(3);
  seat.repaint();
  seat.type(Buffer.from("a"));
  clock.advance(REPAINT_MS - 1);
  expect(calls).toEqual([REPAINT]);
  clock.advance(1);
  seat.type(Buffer.from("b"));
  expect(calls).toEqual([REPAINT, typed("a", 3), typed("b", 3)]);
});

test("more keys than are held back are sent at once, in their order", () => {
  const { seat, calls } = openSeat(3);
  seat.repaint();
  for (let index = 0; index < HELD_CHUNKS + 1; index += 1) seat.type(Buffer.from(`${index} `));
  const sent = Array.from({ length: HELD_CHUNKS + 1 }, (_, index) => typed(`${index} `, 3));
  expect(calls).toEqual([REPAINT, ...sent]);
});

test("keys that are held back are sent when the user detaches", () => {
  const { seat, calls, clock } = openSeat(3);
  seat.repaint();
  seat.type(Buffer.from("a"));
  seat[Symbol.dispose]();
  expect(calls).toEqual([REPAINT, typed("a", 3)]);
  expect(clock.timers).toBe(0);
});

test("keys that are held back are dropped when someone else takes control", () => {
  const { seat, calls } = openSeat(3);
  seat.repaint();
  seat.type(Buffer.from("a"));
  expect(seat.lostTo(createSession({ holder: "other", generation: 4 }))).toBe("other");
  seat.printed();
  expect(calls).toEqual([REPAINT]);
});
