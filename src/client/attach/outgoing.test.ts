import { expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import { Outgoing, PENDING_BYTES, PENDING_FRAMES, type Request } from "./outgoing.ts";

const stdin = (id: string, size = 0): Request => ({
  type: "stdin",
  id,
  bytes: new Uint8Array(size),
});
const refusal = new Fault("queue_full", "full");

test("what is not acknowledged is sent again after a cut, in order, and nothing else is", async () => {
  const outgoing = new Outgoing();
  const answers = ["a", "b", "c"].map((id) => outgoing.add(stdin(id)));
  expect(connect(outgoing)).toEqual(["a", "b", "c"]);
  outgoing.answer("b");
  await answers[1];
  outgoing.cut();
  void outgoing.add(stdin("d"));
  const sent = connect(outgoing);
  expect(sent).toEqual(["a", "c", "d"]);
  outgoing.answer("a");
  outgoing.answer("a");
  expect(sent).toEqual(["a", "c", "d"]);
});

test("a signal that may have been sent is not sent again, one that was not is", async () => {
  const outgoing = new Outgoing();
  connect(outgoing);
  const sent = outgoing.add({ type: "signal", id: "s", signal: "INT" });
  outgoing.cut();
  void outgoing.add({ type: "signal", id: "t", signal: "INT" });
  await expect(sent).rejects.toMatchObject({ code: "host_unavailable" });
  expect(connect(outgoing)).toEqual(["t"]);
});

test("a large write goes piece by piece, and behind a refused piece nothing of it", async () => {
  const outgoing = new Outgoing();
  const sent = connect(outgoing);
  const pieces = ["a", "b", "c"].map((id) => outgoing.add(stdin(id, 20_000), "w"));
  const other = outgoing.add(stdin("x"));
  expect(sent).toEqual(["a"]);
  outgoing.answer("a", refusal);
  const settled = await Promise.allSettled(pieces);
  expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(sent).toEqual(["a", "x"]);
  outgoing.answer("x");
  await other;
});

test("no more than a window is under way", () => {
  const outgoing = new Outgoing();
  const sent = connect(outgoing);
  for (let at = 0; at < 100; at += 1) void outgoing.add(stdin(String(at)));
  expect(sent).toHaveLength(32);
  outgoing.answer("0");
  expect(sent).toHaveLength(33);
});

test("frames and bytes that wait are bounded", async () => {
  const outgoing = new Outgoing();
  void outgoing.add(stdin("large", PENDING_BYTES));
  await expect(outgoing.add(stdin("more", 1))).rejects.toMatchObject({
    code: "queue_full",
  });
  for (let at = 1; at < PENDING_FRAMES; at += 1) void outgoing.add(stdin(String(at)));
  expect(outgoing.hasRoom({ frames: 1, bytes: 0 })).toBe(false);
  await expect(outgoing.add(stdin("last"))).rejects.toMatchObject({ code: "queue_full" });
  connect(outgoing);
  outgoing.answer("large");
  expect(outgoing.hasRoom({ frames: 1, bytes: PENDING_BYTES })).toBe(true);
});

test("of sizes that were not sent only the last one is, and all who asked are answered", async () => {
  const outgoing = new Outgoing();
  const first = outgoing.add({ type: "resize", id: "1", cols: 1, rows: 1 });
  const second = outgoing.add({ type: "resize", id: "2", cols: 2, rows: 2 });
  expect(connect(outgoing)).toEqual(["2"]);
  expect(outgoing.has("resize")).toBe(true);
  outgoing.answer("2");
  await Promise.all([first, second]);
});

test("the end of the session grants a close and an end of input, and refuses the rest", async () => {
  const outgoing = new Outgoing();
  const typed = outgoing.add(stdin("a"));
  const closed = outgoing.add({ type: "close", id: "b" });
  const ended = outgoing.add({ type: "eof", id: "c" });
  outgoing.end(new Fault("already_exited", "over"));
  await Promise.all([closed, ended]);
  await expect(typed).rejects.toMatchObject({ code: "already_exited" });
});

function connect(outgoing: Outgoing): string[] {
  const sent: string[] = [];
  outgoing.open(({ id }) => sent.push(id));
  return sent;
}
