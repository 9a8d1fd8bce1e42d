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
  outgoing.answer({ id: "b" });
  await answers[1];
  outgoing.cut();
  void outgoing.add(stdin("d"));
  const sent = connect(outgoing);
  expect(sent).toEqual(["a", "c", "d"]);
  outgoing.answer({ id: "a" });
  outgoing.answer({ id: "a" });
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
  outgoing.answer({ id: "a", fault: refusal });
  const settled = await Promise.allSettled(pieces);
  expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(sent).toEqual(["a", "x"]);
  outgoing.answer({ id: "x" });
  await other;
});

test("no more than a window is under way", () => {
  const outgoing = new Outgoing();
  const sent = connect(outgoing);
  for (let at = 0; at < 100; at += 1) void outgoing.add(stdin(String(at)));
  expect(sent).toHaveLength(32);
  outgoing.answer({ id: "0" });
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
  outgoing.answer({ id: "large" });
  expect(outgoing.hasRoom({ frames: 1, bytes: PENDING_BYTES })).toBe(true);
});

test("of sizes that were not sent only the last one is, and all who asked are answered", async () => {
  const outgoing = new Outgoing();
  const first = outgoing.add({ type: "resize", id: "1", cols: 1, rows: 1 });
  const second = outgoing.add({ type: "resize", id: "2", cols: 2, rows: 2 });
  expect(connect(outgoing)).toEqual(["2"]);
  expect(outgoing.has("resize")).toBe(true);
  outgoing.answer({ id: "2" });
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

test("numbered inputs that were applied before a cut are settled, and the rest is sent again from the next number", async () => {
  const outgoing = new Outgoing();
  const answers = ["a", "b", "c"].map((id) => outgoing.add(stdin(id)));
  expect(connect(outgoing, null)).toEqual(["a 1", "b 2", "c 3"]);
  outgoing.answer({ id: "", sequence: 1 });
  outgoing.cut();
  const sent = connect(outgoing, 2);
  expect(sent).toEqual(["c 3"]);
  await Promise.all(answers.slice(0, 2));
  void outgoing.add({ type: "eof", id: "d" });
  expect(sent).toEqual(["c 3", "d 4"]);
});

test("what a session that has forgotten the attachment may have applied is not sent again", async () => {
  for (const applied of [null, undefined]) {
    const outgoing = new Outgoing();
    const sent = outgoing.add(stdin("a"));
    connect(outgoing, null);
    outgoing.cut();
    void outgoing.add(stdin("b"));
    expect(connect(outgoing, applied)).toEqual([applied === null ? "b 1" : "b"]);
    await expect(sent).rejects.toMatchObject({ code: "host_unavailable" });
  }
});

test("what was sent by its id keeps it when inputs are numbered from then on", () => {
  const outgoing = new Outgoing();
  void outgoing.add(stdin("a"));
  connect(outgoing);
  outgoing.cut();
  void outgoing.add(stdin("b"));
  const named: [string, boolean][] = [];
  outgoing.open(({ id }, { isNamed }) => named.push([id, isNamed]), null);
  expect(named).toEqual([
    ["a", true],
    ["b", false],
  ]);
});

test("behind a refused input those under way have its fault, and its number is the next", async () => {
  const outgoing = new Outgoing();
  const sent = connect(outgoing, 4);
  const answers = ["a", "b"].map((id) => outgoing.add(stdin(id)));
  outgoing.answer({ id: "", sequence: 5, fault: refusal });
  void outgoing.add(stdin("c"));
  expect(sent).toEqual(["a 5", "b 6"]);
  outgoing.answer({ id: "", sequence: 6, fault: missing, expected: 5 });
  expect(sent).toEqual(["a 5", "b 6", "c 5"]);
  for (const answer of answers) await expect(answer).rejects.toMatchObject({ code: "queue_full" });
});

test("an input behind a take is sent again when it was refused for one before the take", async () => {
  const outgoing = new Outgoing();
  const sent = connect(outgoing, 0);
  const before = outgoing.add(stdin("a"));
  void outgoing.add({ type: "control", id: "t", action: "take" });
  const after = outgoing.add(stdin("b"));
  outgoing.answer({ id: "", sequence: 1, fault: new Fault("not_controller", "no") });
  outgoing.answer({ id: "t" });
  outgoing.answer({ id: "", sequence: 2, fault: missing, expected: 1 });
  expect(sent).toEqual(["a 1", "t", "b 2", "b 1"]);
  outgoing.answer({ id: "", sequence: 1 });
  await after;
  await expect(before).rejects.toMatchObject({ code: "not_controller" });
});

test("when control is lost the next connection tells which inputs were applied", async () => {
  const outgoing = new Outgoing();
  connect(outgoing, null);
  const [first, second] = ["a", "b"].map((id) => outgoing.add(stdin(id)));
  outgoing.cut();
  outgoing.refuse(new Fault("not_controller", "no"));
  expect(connect(outgoing, 1)).toEqual([]);
  await first;
  await expect(second).rejects.toMatchObject({ code: "not_controller" });
  expect(outgoing.isEmpty).toBe(true);
});

const missing = new Fault("input_out_of_order", "missing");

function connect(outgoing: Outgoing, applied?: number | null): string[] {
  const sent: string[] = [];
  outgoing.open(
    ({ id }, { sequence }) => sent.push(sequence === undefined ? id : `${id} ${sequence}`),
    applied,
  );
  return sent;
}
