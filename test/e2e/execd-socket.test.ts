import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { type ExecdDoor, openExecdDoor } from "#test/harness/gateway/execd.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { openTestHost } from "#test/harness/host.ts";
import type { TestSocket } from "#test/harness/socket.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** `/ws/session/{id}` of the execd API, frame by frame. */

let gateway: TestGateway;
let execd: ExecdDoor;
beforeAll(async () => {
  gateway = await openTestGateway();
  execd = openExecdDoor(gateway);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
});

const typesOf = ({ frames }: TestSocket) => {
  const types = frames.map(({ type }) => type);
  return types.filter((type, at) => type !== types[at - 1]);
};
/** Output frames are checked to follow each other without a hole; what they say, by channel. A replay has its end. */
function textOf({ frames }: TestSocket, ...types: string[]): string {
  let next: unknown;
  let text = "";
  for (const { type, offset, data } of frames) {
    if (!["replay", "stdout", "stderr"].includes(type)) continue;
    const bytes = Buffer.byteLength(String(data));
    const first = type === "replay" ? Number(offset) - bytes : Number(offset);
    if (next !== undefined) expect(first).toBe(next);
    next = first + bytes;
    if (types.includes(type)) text += String(data);
  }
  return text;
}
const type = (socket: TestSocket, data: string) => socket.send({ type: "stdin", data });
/** The interactive shells that the host has for a session. */
const interactives = async (id: string) =>
  (await gateway.get("session.list", { limit: 1000 })).sessions.filter(
    ({ title }) => title === `shell of ${id}`,
  );

describe("frames", () => {
  test("a shell on pipes keeps its channels, and its exit follows all output", async () => {
    using dir = openTempDir();
    const id = await execd.createSession({ cwd: dir.path });
    expect(await execd.ask("GET", `/session/${id}`)).toEqual({
      status: 200,
      body: { session_id: id, running: false, output_offset: 0 },
    });
    await using socket = await execd.attach(id);
    expect(await socket.frame("connected")).toEqual({
      type: "connected",
      session_id: id,
      mode: "pipe",
    });
    type(socket, "pwd\n");
    await socket.printed(dir.path);
    expect(socket.frames[1]).toEqual({ type: "stdout", offset: 0, data: `${dir.path}\n` });
    type(socket, "echo oops >&2\n");
    const error = await socket.frame("stderr");
    expect(error).toEqual({ type: "stderr", offset: dir.path.length + 1, data: "oops\n" });
    type(socket, "head -c 300000 /dev/zero | tr '\\0' x; exit 4\n");
    expect(await socket.ended()).toEqual({ code: 1000, reason: "process exited" });
    expect(textOf(socket, "stdout").length).toBe(dir.path.length + 1 + 300_000);
    expect(socket.frames.at(-1)).toEqual({ type: "exit", exit_code: 4 });
    expect(typesOf(socket)).toEqual(["connected", "stdout", "stderr", "stdout", "exit"]);
  });

  test("a size is ignored where the shell has no terminal, and a wrong one is refused", async () => {
    const id = await execd.createSession();
    await using socket = await execd.attach(id);
    socket.send({ type: "resize", cols: 101, rows: 33 });
    socket.send({ type: "ping" });
    await socket.frame("pong");
    type(socket, "echo on\n");
    await socket.printed("on");
    expect(socket.all("error")).toEqual([]);
    socket.send({ type: "resize", cols: 0, rows: 33 });
    expect(await socket.frame("error")).toMatchObject({ code: "INVALID_FRAME" });
  });

  test("a shell on a terminal has a prompt, a size and job control", async () => {
    const id = await execd.createSession();
    await using socket = await execd.attach(id, "?pty=1");
    expect(await socket.frame("connected")).toMatchObject({ mode: "pty" });
    type(socket, "stty size; tty -s && echo a $((1 + 1)) terminal\n");
    await socket.printed("24 80");
    await socket.printed("a 2 terminal");
    socket.send({ type: "resize", cols: 101, rows: 33 });
    type(socket, "stty size\n");
    await socket.printed("33 101");
    type(socket, "sleep 1000\n");
    await waitFor("sleep in the foreground", async () => {
      const [shell] = await interactives(id);
      const { pid } = shell ?? {};
      return pid !== undefined && pid !== null && (await hasChild(pid, "sleep"));
    });
    socket.send({ type: "signal", signal: "INT" });
    type(socket, "echo alive $?\n");
    await socket.printed("alive 130");
    type(socket, "exit 3\n");
    await socket.ended();
    expect(socket.frames.at(-1)).toEqual({ type: "exit", exit_code: 3 });
    expect(socket.all("stderr")).toEqual([]);
    textOf(socket, "stdout");
  });

  test("a ping is answered", async () => {
    await using socket = await execd.attach(await execd.createSession());
    socket.send({ type: "ping" });
    expect(await socket.frame("pong")).toEqual({ type: "pong" });
  });

  test.each([
    ["no JSON", "{"],
    ["no object", "7"],
    ["an unknown type", { type: "dance" }],
    ["a missing field", { type: "stdin" }],
    ["an unknown field", { type: "ping", more: 1 }],
    ["a size of nothing", { type: "resize", cols: 0, rows: 24 }],
    ["a size that is too large", { type: "resize", cols: 80, rows: 65_536 }],
    ["a size that is no number", { type: "resize", cols: "80", rows: 24 }],
    ["an unknown signal", { type: "signal", signal: "DANCE" }],
    ["binary", Buffer.from([0, 1, 2])],
  ])("%s is an invalid frame, and the socket stays", async (_what, frame) => {
    await using socket = await execd.attach(await execd.createSession(), "?pty=1");
    socket.send(frame);
    const error = await socket.frame("error");
    expect(error).toEqual({ type: "error", error: expect.any(String), code: "INVALID_FRAME" });
    expect(String(error.error).length).toBeGreaterThan(5);
    type(socket, "echo $((40 + 2)) and on; stty size\n");
    await socket.printed("42 and on");
    await socket.printed("24 80");
  });

  test("bytes that are no text are there as they were, too", async () => {
    await using socket = await execd.attach(await execd.createSession());
    type(socket, "printf 'a\\xff'; exit\n");
    await socket.ended();
    const data_b64 = Buffer.from([0x61, 0xff]).toString("base64");
    expect(socket.all("stdout")).toEqual([
      { type: "stdout", offset: 0, data: "a\ufffd", data_b64 },
    ]);
  });

  test("a character whose rest comes later is not split", async () => {
    await using socket = await execd.attach(await execd.createSession());
    type(socket, "printf 'a\\xe2\\x82'\n");
    await socket.printed("a");
    type(socket, "printf '\\xacb'\n");
    await socket.printed("b");
    expect(socket.output().toString()).toBe("a€b");
    expect(socket.all("stdout").filter((frame) => "data_b64" in frame)).toEqual([]);
  });
});

async function hasChild(pid: number, name: string): Promise<boolean> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  const names = await Promise.all(
    children
      .split(" ")
      .filter(Boolean)
      .map((child) => readFile(`/proc/${child}/comm`, "utf8").catch(() => "")),
  );
  return names.some((found) => found.trim() === name);
}

describe("replay", () => {
  test("with since everything from there comes before connected, then what is live", async () => {
    const id = await execd.createSession();
    await using first = await execd.attach(id);
    type(first, "echo one; echo two >&2\n");
    await first.printed("two");
    await first.printed("one");
    first.socket.terminate();
    await waitFor("free control", async () => (await interactives(id))[0]?.controller === null);
    expect(await execd.ask("GET", `/session/${id}`)).toMatchObject({
      body: { running: true, output_offset: 8 },
    });
    await using second = await execd.attach(id, "?since=2");
    await second.frame("connected");
    type(second, "echo three\n");
    await second.printed("three");
    expect(typesOf(second)).toEqual(["replay", "connected", "stdout"]);
    expect(second.all("replay").at(-1)).toMatchObject({ offset: 8 });
    expect(textOf(second, "replay", "stdout")).toBe(
      `${textOf(first, "stdout", "stderr").slice(2)}three\n`,
    );
  });

  test("its offset is behind its last byte, so that a client that keeps it reads nothing twice", async () => {
    const id = await execd.createSession();
    await using first = await execd.attach(id);
    type(first, "echo one\n");
    await first.printed("one");
    type(first, "echo two\n");
    await first.printed("two");
    await using second = await execd.attach(id, "?takeover=1&since=4");
    expect(await second.frame("replay")).toEqual({ type: "replay", offset: 8, data: "two\n" });
    await using third = await execd.attach(id, "?takeover=1&since=8");
    expect(await third.frame("replay")).toEqual({ type: "replay", offset: 8, data: "" });
  });

  test("without since only what is new comes, and at the end a replay is empty", async () => {
    const id = await execd.createSession();
    await using first = await execd.attach(id);
    type(first, "echo one\n");
    await first.printed("one");
    await using second = await execd.attach(id, "?takeover=1");
    await second.frame("connected");
    type(second, "echo two\n");
    await second.printed("two");
    expect(second.frames).toEqual([
      { type: "connected", session_id: id, mode: "pipe" },
      { type: "stdout", offset: 4, data: "two\n" },
    ]);
    await using third = await execd.attach(id, "?takeover=1&since=8");
    await third.frame("connected");
    expect(third.frames).toEqual([
      { type: "replay", offset: 8, data: "" },
      { type: "connected", session_id: id, mode: "pipe" },
    ]);
  });

  test("a long history comes whole, in frames that follow each other", async () => {
    const id = await execd.createSession();
    await using first = await execd.attach(id);
    type(first, "seq 1 100000; echo done\n");
    await first.printed("done");
    await using second = await execd.attach(id, "?takeover=1&since=0");
    await second.frame("connected");
    expect(typesOf(second)).toEqual(["replay", "connected"]);
    expect(textOf(second, "replay")).toBe(textOf(first, "stdout"));
    expect(second.all("replay").length).toBeGreaterThan(1);
  });

  test("half a character at the end delays nothing", async () => {
    const id = await execd.createSession();
    await using first = await execd.attach(id);
    type(first, "printf 'a\\xe2\\x82'\n");
    await waitFor("three bytes", async () => (await interactives(id))[0]?.tail === 3);
    await using second = await execd.attach(id, "?takeover=1&since=0");
    await second.frame("connected");
    expect(second.frames[0]).toEqual({ type: "replay", offset: 1, data: "a" });
    type(second, "printf '\\xac'\n");
    expect(await second.frame("stdout")).toEqual({ type: "stdout", offset: 1, data: "€" });
  });

  test("after the exit an attach replays and tells it, and starts nothing", async () => {
    using dir = openTempDir();
    const id = await execd.createSession({ cwd: dir.path });
    await using first = await execd.attach(id, "?pty=1");
    type(first, "echo last $((1 + 1)) words; exit 6\n");
    await first.ended();
    for (const query of ["?since=0", "?since=0&pty=0", "?since=0&takeover=1"]) {
      await using later = await execd.attach(id, query);
      expect(await later.ended()).toMatchObject({ code: 1000 });
      expect(typesOf(later)).toEqual(["replay", "connected", "exit"]);
      expect(later.frames.at(-2)).toMatchObject({ mode: "pty" });
      expect(later.frames.at(-1)).toEqual({ type: "exit", exit_code: 6 });
      expect(textOf(later, "replay")).toBe(textOf(first, "stdout"));
    }
    await using bare = await execd.attach(id);
    await bare.ended();
    expect(typesOf(bare)).toEqual(["connected", "exit"]);
    expect(await interactives(id)).toHaveLength(1);
    expect(await execd.ask("GET", `/session/${id}`)).toMatchObject({ body: { running: false } });
  });

  test("what is no longer kept is told before what follows it, also by the logs", async () => {
    const id = await execd.createSession();
    const first = await execd.attach(id);
    type(first, "head -c 75000000 /dev/zero | tr '\\0' x; exit\n");
    await first[Symbol.asyncDispose]();
    const session = await waitFor(
      "the end of the shell",
      async () => (await interactives(id)).find(({ state }) => state.kind === "exited"),
      { timeout: 30_000 },
    );
    const since = 5_000_000;
    await using second = await execd.attach(id, `?since=${since}`);
    const replay = await second.frame("replay");
    const [gap] = second.frames;
    const firstKept = Number(replay.offset) - Buffer.byteLength(String(replay.data));
    expect(gap).toEqual({ type: "error", error: expect.any(String), code: "GAP" });
    expect(gap?.error).toBe(`the bytes from ${since} to ${firstKept} are no longer kept`);
    second.socket.terminate();
    const logs = await gateway.fetch(`/command/${session.session_id}/logs?cursor=${since}`);
    expect(logs.headers.get("x-reins-gap")).toBe(`${since}-${firstKept}`);
    expect(logs.headers.get("execd-commands-tail-cursor")).toBe("75000000");
    const kept = 75_000_000 - firstKept;
    expect((await logs.arrayBuffer()).byteLength).toBe(kept);
  });

  test("an offset past the end is refused before the upgrade, and starts nothing", async () => {
    const id = await execd.createSession();
    expect(await execd.refusal(id, "?since=1")).toMatchObject({ status: 416 });
    expect(await interactives(id)).toEqual([]);
    for (const since of ["-1", "x", "1.5", ""])
      expect(await execd.refusal(id, `?since=${since}`)).toMatchObject({
        status: 400,
        code: "INVALID_REQUEST_BODY",
      });
    await using socket = await execd.attach(id);
    await socket.frame("connected");
    expect(await execd.refusal(id, "?since=1&takeover=1")).toMatchObject({ status: 416 });
    expect(socket.closed).toBeUndefined();
  });
});

describe("one client at a time", () => {
  test("a second one is refused with 409 until it takes over, and the first hears it", async () => {
    const id = await execd.createSession();
    await using first = await execd.attach(id);
    await first.frame("connected");
    expect(await execd.refusal(id)).toMatchObject({ status: 409, code: "ALREADY_CONNECTED" });
    await using second = await execd.attach(id, "?takeover=1&pty=1");
    expect(await second.frame("connected")).toMatchObject({ mode: "pipe" });
    expect(await first.ended()).toEqual({ code: 4001, reason: "TAKEN_OVER" });
    type(second, "echo mine\n");
    await second.printed("mine");
    second.socket.close();
    await second.ended();
    await using third = await waitFor("free control", () =>
      execd.attach(id).catch(() => undefined),
    );
    await third.frame("connected");
    expect(await interactives(id)).toHaveLength(1);
  });

  test("of many that come first at once one gets the shell, and there is one", async () => {
    const id = await execd.createSession();
    const attached = await Promise.allSettled(
      Array.from({ length: 8 }, (_, at) => execd.attach(id, at % 2 === 0 ? "?pty=1" : "")),
    );
    const opened = attached.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const refused = attached.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    expect(opened).toHaveLength(1);
    expect(refused.map(({ status }) => status)).toEqual(Array.from({ length: 7 }, () => 409));
    expect(await interactives(id)).toHaveLength(1);
    await opened[0]?.[Symbol.asyncDispose]();
  });

  test("a request that is no handshake takes nothing from anybody", async () => {
    const id = await execd.createSession();
    await using socket = await execd.attach(id);
    await socket.frame("connected");
    expect(await execd.ask("GET", `/ws/session/${id}?takeover=1`)).toMatchObject({
      status: 400,
      body: { code: "INVALID_REQUEST_BODY" },
    });
    type(socket, "echo still here\n");
    await socket.printed("still here");
    expect(socket.closed).toBeUndefined();
  });
});

describe("its session", () => {
  test("the shell lives beside runs, and a run can show what it has printed", async () => {
    const id = await execd.createSession();
    await using socket = await execd.attach(id);
    type(socket, "x=inside; echo shell\n");
    await socket.printed("shell");
    const events = await execd.events(`/session/${id}/run?since=1`, { command: "echo [$x]" });
    expect(events.map(({ data }) => [data.type, data.text])).toEqual([
      ["replay", "hell\n"],
      ["init", expect.stringMatching(/^ses_/)],
      ["stdout", "[]"],
      ["execution_complete", undefined],
    ]);
    expect(events[0]?.data).toMatchObject({ offset: 6, timestamp: expect.any(Number) });
    type(socket, "echo $x\n");
    await socket.printed("inside");
  });

  test("deleting it ends the shell, and who is attached hears the exit", async () => {
    const id = await execd.createSession();
    await using socket = await execd.attach(id, "?pty=1");
    await socket.frame("connected");
    expect(await execd.ask("DELETE", `/session/${id}`)).toMatchObject({ status: 200 });
    expect(await socket.ended()).toMatchObject({ code: 1000 });
    expect(socket.frames.at(-1)).toMatchObject({ type: "exit", exit_code: expect.any(Number) });
    const [shell] = await interactives(id);
    expect(shell?.state.kind).toBe("exited");
    expect(await execd.refusal(id)).toMatchObject({ status: 404, code: "CONTEXT_NOT_FOUND" });
    expect(await execd.ask("GET", `/session/${id}`)).toMatchObject({ status: 404 });
  });

  test("an attach that meets the deletion leaves no shell behind", async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await execd.createSession();
      const attaching = execd.attach(id).catch((error: unknown) => error);
      const deleting = execd.ask("DELETE", `/session/${id}`);
      const [attached, deleted] = await Promise.all([attaching, deleting]);
      expect(deleted.status).toBe(200);
      await waitFor("no shell that lives", async () =>
        (await interactives(id)).every(({ state }) => state.kind === "exited"),
      );
      if (attached instanceof Error) expect(attached).toMatchObject({ status: 404 });
      else await (attached as TestSocket)[Symbol.asyncDispose]();
    }
  });

  test("a gateway that was killed is no reason to lose the shell", async () => {
    await using host = await openTestHost();
    const { dataDir } = host;
    await using before = await openGatewayProcess({ dataDir });
    const id = await openExecdDoor(before.door).createSession();
    const first = await openExecdDoor(before.door).attach(id, "?pty=1");
    type(first, "kept=here; echo set $((1 + 1))\n");
    await first.printed("set 2");
    await before.kill("SIGKILL");
    await first.ended();
    await using after = await openGatewayProcess({ dataDir });
    const door = openExecdDoor(after.door);
    expect(await door.ask("GET", `/session/${id}`)).toMatchObject({ body: { running: true } });
    await using second = await waitFor("free control", () =>
      door.attach(id, "?since=0").catch(() => undefined),
    );
    expect(await second.frame("connected")).toMatchObject({ mode: "pty" });
    type(second, "echo still $kept\n");
    await second.printed("still here");
    expect(textOf(second, "replay").startsWith(textOf(first, "stdout"))).toBe(true);
  });
});
