import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeInput } from "#contract/terminal/input-frame.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { refusalOf } from "#test/harness/socket.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** How an attached client is served. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
});

const command = (line: string, more: object = {}) =>
  gateway.get("session.create", { kind: "command", command: line, ...more });
const terminal = (argv: readonly string[], more: object = {}) =>
  gateway.get("session.create", { kind: "terminal", argv: [...argv], ...more });

test("every output frame has its channel and offset, and connected tells where it begins", async () => {
  const { session_id } = await command(
    "printf one; sleep 0.05; printf two >&2; sleep 0.05; printf three",
  );
  await using socket = await gateway.attach(session_id, "?since=0");
  await socket.ended();
  expect(socket.frames[0]).toMatchObject({
    type: "connected",
    session_id,
    kind: "command",
    mode: "pipe",
    role: "viewer",
    generation: null,
    offset: 0,
  });
  const runs = socket.frames.filter(({ type }) => type === "stdout" || type === "stderr");
  let next = 0;
  for (const { offset, data } of runs) {
    expect(offset).toBe(next);
    next += String(data).length;
  }
  expect(socket.output("stdout").toString()).toBe("onethree");
  expect(socket.output("stderr").toString()).toBe("two");
});

test("an offset past the end, negative or no number is refused before the upgrade", async () => {
  const { session_id } = await command("printf abc");
  await gateway.get("session.wait", { session_id, for: "exit", timeout_ms: 10_000 });
  const past = await refusalOf(gateway.attach(session_id, "?since=4"));
  expect(past.status).toBe(416);
  expect(past.body.error?.code).toBe("offset_out_of_range");
  for (const since of ["-1", "x", "1.5", "", "99999999999999999999"]) {
    const refusal = await refusalOf(gateway.attach(session_id, `?since=${since}`));
    expect([since, refusal.status, refusal.body.error?.code]).toEqual([
      since,
      400,
      "invalid_request",
    ]);
  }
  await using socket = await gateway.attach(session_id, "?since=3");
  await socket.frame("exit");
  expect(socket.output().length).toBe(0);
});

test.each([
  ["pty", "terminal"],
  ["pipe", "command"],
] as const)(
  "all output precedes the exit, then the socket closes with 1000 (%s)",
  async (_mode, kind) => {
    const size = 100_000;
    const argv = ["/bin/sh", "-c", `head -c ${size} /dev/zero | tr '\\0' x; exit 3`];
    for (let run = 0; run < 20; run += 1) {
      const { session_id } = await gateway.get("session.create", { kind, argv });
      await using socket = await gateway.attach(session_id, "?since=0", {
        protocols: ["reins.bin.v1"],
      });
      expect((await socket.ended()).code).toBe(1000);
      expect(socket.output().length).toBe(size);
      expect(socket.frames.at(-1)).toEqual({
        type: "exit",
        exit_code: 3,
        signal: null,
        reason: "exited",
        tail: size,
      });
    }
  },
);

test("an attach after the exit replays, tells the exit and starts nothing", async () => {
  using dir = openTempDir();
  const counter = join(dir.path, "count");
  const { session_id } = await command(`echo run >> ${counter}; echo done; exit 7`);
  await gateway.get("session.wait", { session_id, for: "exit", timeout_ms: 10_000 });
  for (let times = 0; times < 3; times += 1) {
    await using socket = await gateway.attach(session_id, "?since=0&role=controller&takeover=1");
    expect((await socket.ended()).code).toBe(1000);
    expect(socket.output().toString()).toBe("done\n");
    expect(socket.all("exit")).toMatchObject([{ exit_code: 7 }]);
    expect(socket.frames[0]).toMatchObject({
      role: "viewer",
      state: { kind: "exited", exit_code: 7 },
    });
  }
  expect(readFileSync(counter, "utf8")).toBe("run\n");
  const session = await gateway.get("session.get", { session_id });
  expect(session).toMatchObject({ state: { exit_code: 7 }, exited_at: expect.any(String) });
});

test("stdout and stderr keep their channel through a replay", async () => {
  const { session_id } = await command("for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done");
  await gateway.get("session.wait", { session_id, for: "exit", timeout_ms: 10_000 });
  for (const protocols of [[], ["reins.bin.v1"]]) {
    await using socket = await gateway.attach(session_id, "", { protocols });
    await socket.ended();
    const text = (channel: 1 | 2) =>
      protocols.length === 0
        ? socket.output(channel === 1 ? "stdout" : "stderr").toString()
        : Buffer.concat(
            socket.binary.filter((part) => part.channel === channel).map(({ bytes }) => bytes),
          ).toString();
    expect(text(1)).toBe("out 1\nout 2\nout 3\nout 4\nout 5\n");
    expect(text(2)).toBe("err 1\nerr 2\nerr 3\nerr 4\nerr 5\n");
  }
});

describe("viewers", () => {
  test("two at once get identical bytes", async () => {
    const { session_id } = await command(
      "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done",
    );
    await using first = await gateway.attach(session_id, "?since=0");
    await using second = await gateway.attach(session_id, "?since=0", {
      protocols: ["reins.bin.v1"],
    });
    await Promise.all([first.ended(), second.ended()]);
    expect(first.output().equals(second.output())).toBe(true);
    expect(first.output().toString().split("\n").length).toBe(3001);
  });

  test("cannot type, resize or signal, and stay connected", async () => {
    const { session_id } = await terminal(["/bin/cat"]);
    await using socket = await gateway.attach(session_id);
    for (const frame of [
      { type: "stdin", data: "x", id: "1" },
      { type: "resize", cols: 10, rows: 10, id: "2" },
      { type: "signal", signal: "SIGINT", id: "3" },
      { type: "eof", id: "4" },
    ])
      expect(await socket.ask(frame)).toMatchObject({
        type: "error",
        id: frame.id,
        code: "not_controller",
      });
    expect(await socket.ask({ type: "ping", id: "5" })).toEqual({ type: "pong", id: "5" });
    expect(await gateway.get("session.get", { session_id })).toMatchObject({
      cols: 80,
      rows: 24,
      state: { kind: "running" },
    });
  });
});

describe("control", () => {
  test("a second controller is refused with 409 before the upgrade", async () => {
    const { session_id } = await terminal(["/bin/cat"]);
    await using first = await gateway.attach(session_id, "?role=controller");
    expect(await first.frame("connected")).toMatchObject({ role: "controller", generation: 1 });
    const refusal = await refusalOf(gateway.attach(session_id, "?role=controller"));
    expect([refusal.status, refusal.body.error?.code]).toEqual([409, "not_controller"]);
    expect(await first.ask({ type: "ping", id: "1" })).toMatchObject({ type: "pong" });
  });

  test("a takeover closes the old holder with 4001, and what it sends late has no effect", async () => {
    const { session_id } = await terminal(["/bin/cat"]);
    await using first = await gateway.attach(session_id, "?role=controller");
    await first.frame("connected");
    await using second = await gateway.attach(session_id, "?role=controller&takeover=1");
    first.send({ type: "stdin", data: "from the loser\n" });
    expect((await first.ended()).code).toBe(4001);
    expect(first.all("control").at(-1)).toMatchObject({ generation: 2 });
    await second.ask({ type: "stdin", data: "from the winner\n", id: "1" });
    await second.printed("from the winner");
    expect(second.output().includes("loser")).toBe(false);
  });

  test("a viewer takes and releases control on its socket", async () => {
    const { session_id } = await terminal(["/bin/cat"]);
    await using first = await gateway.attach(session_id, "?role=controller");
    await first.frame("connected");
    await using second = await gateway.attach(session_id);
    expect(await second.ask({ type: "control", action: "take", id: "1" })).toMatchObject({
      type: "ack",
    });
    expect((await first.ended()).code).toBe(4001);
    expect(await second.ask({ type: "stdin", data: "x", id: "2" })).toMatchObject({ type: "ack" });
    expect(await second.ask({ type: "control", action: "release", id: "3" })).toMatchObject({
      type: "ack",
    });
    expect(await second.ask({ type: "stdin", data: "x", id: "4" })).toMatchObject({
      code: "not_controller",
    });
    await waitFor(
      "nobody holds it",
      async () => (await gateway.get("session.get", { session_id })).controller === null,
    );
  });

  test("a holder who disconnects leaves control to the next", async () => {
    const { session_id } = await terminal(["/bin/cat"]);
    const first = await gateway.attach(session_id, "?role=controller");
    await first.frame("connected");
    await first[Symbol.asyncDispose]();
    await waitFor(
      "nobody holds it",
      async () => (await gateway.get("session.get", { session_id })).controller === null,
    );
    await using second = await gateway.attach(session_id, "?role=controller");
    expect(await second.frame("connected")).toMatchObject({ role: "controller" });
  });
});

test("a bad handshake or a plain GET with takeover=1 takes control from nobody", async () => {
  const { session_id } = await terminal(["/bin/cat"]);
  await using holder = await gateway.attach(session_id, "?role=controller");
  await holder.frame("connected");
  const path = `/v1/sessions/${session_id}/ws?role=controller&takeover=1`;
  const plain = await gateway.fetch(path);
  expect([plain.status, (await plain.json()) as object]).toMatchObject([
    400,
    { error: { code: "invalid_request" } },
  ]);
  const unknown = await refusalOf(
    gateway.socket(path, { headers: { Authorization: "Bearer wrong" } }),
  );
  expect([unknown.status, unknown.body.error?.code]).toEqual([401, "unauthenticated"]);
  expect(await holder.ask({ type: "stdin", data: "x", id: "1" })).toMatchObject({ type: "ack" });
  expect(holder.all("control")).toEqual([]);
});

test("input with the same id is applied once, also over another connection", async () => {
  const { session_id } = await gateway.get("session.create", {
    kind: "command",
    command: "cat",
    stdin: true,
  });
  const first = await gateway.attach(session_id, "?role=controller");
  expect(await first.ask({ type: "stdin", data: "once\n", id: "a" })).toMatchObject({
    type: "ack",
    id: "a",
  });
  expect(await first.ask({ type: "stdin", data: "once\n", id: "a" })).toMatchObject({
    type: "ack",
    id: "a",
  });
  await first[Symbol.asyncDispose]();
  await using second = await gateway.attach(session_id, "?role=controller&takeover=1");
  await second.ask({ type: "stdin", data: "once\n", id: "a" });
  await second.ask({ type: "stdin", data: "twice\n", id: "b" });
  await second.ask({ type: "eof", id: "c" });
  await second.ended();
  expect(second.output().toString()).toBe("once\ntwice\n");
});

test("eof closes the pipe; on a terminal it is the end-of-file key", async () => {
  const { session_id } = await terminal(["/bin/cat"]);
  await using socket = await gateway.attach(session_id, "?role=controller");
  await socket.ask({ type: "eof", id: "1" });
  expect(await socket.frame("exit")).toMatchObject({ exit_code: 0, reason: "exited" });
});

test("an interrupt stops the foreground job and the shell lives; an unknown signal is refused", async () => {
  const { session_id } = await terminal(["/bin/bash", "--norc", "-i"]);
  await using socket = await gateway.attach(session_id, "?role=controller");
  // Printed by the job itself: a child that the shell has only forked may not be in the foreground yet.
  const job = `sh -c 'echo rea""dy; exec sleep 1000'; echo sto''pped\n`;
  socket.send({ type: "stdin", data: job });
  await socket.printed("ready");
  expect(await socket.ask({ type: "signal", signal: "SIGBOGUS", id: "1" })).toMatchObject({
    code: "invalid_request",
  });
  expect(await socket.ask({ type: "signal", signal: "SIGINT", id: "2" })).toMatchObject({
    type: "ack",
  });
  socket.send({ type: "stdin", data: "echo ali''ve\n" });
  await socket.printed("alive");
});

test("a resize holds before the next byte that is typed; an absurd one is refused", async () => {
  const { session_id } = await terminal(["/bin/bash", "--norc", "-i"], { cols: 100, rows: 30 });
  await using socket = await gateway.attach(session_id, "?role=controller");
  expect(await socket.frame("connected")).toMatchObject({ cols: 100, rows: 30 });
  socket.send({ type: "resize", cols: 123, rows: 45 });
  socket.send({ type: "stdin", data: "stty size\n" });
  await socket.printed("45 123");
  expect(await socket.frame("resized")).toEqual({ type: "resized", cols: 123, rows: 45 });
  for (const cols of [0, -1, 1.5, 65_536, "80"])
    expect(await socket.ask({ type: "resize", cols, rows: 24, id: String(cols) })).toMatchObject({
      code: "invalid_request",
    });
  expect(await gateway.get("session.get", { session_id })).toMatchObject({ cols: 123, rows: 45 });
});

test("every byte value passes unchanged both ways, however the characters are cut", async () => {
  const { session_id } = await gateway.get("session.create", {
    kind: "command",
    command: "cat",
    stdin: true,
  });
  const bytes = Buffer.from([
    ...Array.from({ length: 256 }, (_, value) => value),
    ...Buffer.from("日本語 🎉 é"),
  ]);
  await using text = await gateway.attach(session_id, "?role=controller");
  await using binary = await gateway.attach(session_id, "", { protocols: ["reins.bin.v1"] });
  for (const byte of bytes)
    text.send({ type: "stdin", data: Buffer.from([byte]).toString("base64"), encoding: "base64" });
  await text.ask({ type: "eof", id: "end" });
  await Promise.all([text.ended(), binary.ended()]);
  expect(text.output().equals(bytes)).toBe(true);
  expect(binary.output().equals(bytes)).toBe(true);
});

describe("reins.bin.v2", () => {
  const V2 = { protocols: ["reins.bin.v2"] };
  const numbered = (sequence: number, id: string, text: string) =>
    Buffer.from(encodeInput({ sequence, id, bytes: Buffer.from(text) }) ?? []);
  const cat = () => gateway.get("session.create", { kind: "command", command: "cat", stdin: true });

  test("numbered inputs are applied in order, once for each id, and acknowledged by id and number", async () => {
    const { session_id } = await cat();
    await using socket = await gateway.attach(session_id, "?role=controller", V2);
    expect(socket.socket.protocol).toBe("reins.bin.v2");
    socket.send(numbered(1, "a", "one "));
    socket.send(numbered(2, "b", "two "));
    socket.send(numbered(3, "a", "one "));
    socket.send(numbered(4, "", "three"));
    await socket.ask({ type: "eof", id: "end" });
    await socket.ended();
    expect(socket.all("ack").filter(({ sequence }) => sequence !== undefined)).toEqual([
      { type: "ack", id: "a", sequence: 1 },
      { type: "ack", id: "b", sequence: 2 },
      { type: "ack", id: "a", sequence: 3 },
      { type: "ack", id: "", sequence: 4 },
    ]);
    expect(socket.output().toString()).toBe("one two three");
  });

  test("a missing number is invalid_request, closes with 1002 and types nothing", async () => {
    const { session_id } = await cat();
    await using socket = await gateway.attach(session_id, "?role=controller", V2);
    socket.send(numbered(1, "a", "kept"));
    await socket.frame("ack");
    socket.send(numbered(3, "c", "lost"));
    socket.send(numbered(2, "b", "late"));
    expect((await socket.ended()).code).toBe(1002);
    expect(socket.all("error")).toMatchObject([{ id: "c", sequence: 3, code: "invalid_request" }]);
    await using next = await gateway.attach(session_id, "?role=controller&takeover=1", V2);
    next.send(numbered(1, "d", " and more"));
    await next.ask({ type: "eof", id: "end" });
    await next.ended();
    expect(next.output().toString()).toBe("kept and more");
  });

  test("a refused input names its number, and the next number is taken after it", async () => {
    const { session_id } = await cat();
    await using socket = await gateway.attach(session_id, "", V2);
    socket.send(numbered(1, "a", "x"));
    expect(await socket.frame("error")).toMatchObject({
      ...{ id: "a", sequence: 1, code: "not_controller" },
    });
    await socket.ask({ type: "control", action: "take", id: "take" });
    socket.send(numbered(1, "a", "again "));
    socket.send(numbered(2, "b", "next"));
    await socket.ask({ type: "eof", id: "end" });
    await socket.ended();
    expect(socket.output().toString()).toBe("again next");
  });

  test("a binary frame of another kind is refused, and the socket lives", async () => {
    const { session_id } = await cat();
    await using socket = await gateway.attach(session_id, "?role=controller", V2);
    socket.send(Buffer.concat([Buffer.alloc(9), Buffer.from("as in v1")]));
    expect(await socket.frame("error")).toMatchObject({ code: "invalid_request" });
    expect(await socket.ask({ type: "ping", id: "1" })).toMatchObject({ type: "pong" });
  });
});

test("frames that are none are answered by a code, and the session is unharmed", async () => {
  const { session_id } = await terminal(["/bin/cat"]);
  await using socket = await gateway.attach(session_id, "?role=controller");
  await socket.frame("connected");
  for (const bad of [
    "",
    "{",
    "[]",
    "null",
    "1",
    '{"type":"nonsense"}',
    '{"type":"stdin"}',
    '{"type":"stdin","data":1}',
    '{"type":"ping","extra":1}',
    Buffer.from([]),
    Buffer.from([9, 9]),
  ]) {
    const before = socket.all("error").length;
    socket.send(bad);
    await waitFor("an error", () => socket.all("error").length > before);
    expect(socket.all("error").at(-1)).toMatchObject({ code: "invalid_request" });
  }
  expect(await socket.ask({ type: "stdin", data: "still here\n", id: "1" })).toMatchObject({
    type: "ack",
  });
  await socket.printed("still here");
  socket.send({ type: "stdin", data: "x".repeat(1_100_000) });
  expect((await socket.ended()).code).toBe(1009);
  expect(await gateway.get("session.get", { session_id })).toMatchObject({
    state: { kind: "running" },
  });
});

test("a close while clients are attached ends them with the reason", async () => {
  const { session_id } = await terminal(["/bin/cat"]);
  await using viewer = await gateway.attach(session_id);
  await using controller = await gateway.attach(session_id, "?role=controller");
  expect(await controller.ask({ type: "close", reason: "enough", id: "1" })).toMatchObject({
    type: "ack",
  });
  expect(await viewer.frame("exit")).toMatchObject({ reason: "user_requested" });
  expect((await viewer.ended()).code).toBe(1000);
  const again = await gateway.get("session.close", { session_id, reason: "another" });
  expect(again.state).toMatchObject({ kind: "exited", reason: "user_requested", detail: "enough" });
});
