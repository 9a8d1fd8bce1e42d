import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { SessionId } from "#contract/ids.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTask, openTerminals, type Terminals } from "#test/harness/gateway/terminals.ts";
import { type Door, openTestGateway } from "#test/harness/gateway.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { leaseForFile } from "#test/harness/lease.ts";

/** For the tests that need no gateway of their own. */
const leaseGateway = leaseForFile(() => openTestGateway());

const MIB = 1024 * 1024;
const CTRL_C = "\x03";
/** More than a paused client, its socket's buffers and the outbox hold together. */
const FAR_AHEAD_BYTES = 12 * MIB;
/** A busy machine takes its time; nothing waits longer than it has to. */
const patient = { timeout: 40_000 };

test("attaches that are cut anywhere stitch to the whole log", async () => {
  await using gateway = await leaseGateway();
  using task = await openTask(gateway);
  await using client = await openTerminals(gateway);
  const session_id = await client.open(task);
  client.type(session_id, "seq 1 50000; exit\n");
  await client.exit(session_id);
  const whole = await readLog(gateway, session_id);
  expect(hash(client.output(session_id))).toBe(hash(whole));
  for (const cut of [1, 4095, 77_777, whole.length]) {
    await using again = await openTerminals(gateway);
    expect(await again.attach(session_id, cut)).toMatchObject({ offset: cut, tail: whole.length });
    await again.exit(session_id);
    expect(hash(again.output(session_id))).toBe(hash(whole.subarray(cut)));
  }
});

test("what is no longer kept is a gap, what is not there yet an error", async () => {
  await using gateway = await leaseGateway();
  using task = await openTask(gateway);
  await using writer = await openTerminals(gateway);
  const session_id = await writer.open(task);
  writer.type(session_id, "head -c 74000000 /dev/zero | tr '\\0' y > /dev/tty; exit\n");
  // It goes away, and the terminal goes on.
  await writer.printed(session_id, "yyyyyyyy");
  await writer[Symbol.asyncDispose]();
  const ended = await waitFor(
    "it ends",
    async () => {
      const session = await gateway.get("session.get", { session_id });
      return session.state.kind === "exited" && session;
    },
    patient,
  );
  await using client = await openTerminals(gateway);
  // The first segment, 4 MiB of output, stays.
  const since = 5 * MIB;
  expect(await client.attach(session_id, since)).toMatchObject({ offset: since });
  const gap = await client.next("terminal.gap");
  expect(gap).toMatchObject({ session_id, from: since, to: expect.any(Number) });
  expect(gap.to).toBeGreaterThan(since);
  const { offset } = await client.next("terminal.data");
  expect(offset).toBe(gap.to);
  const beyond = { session_id, since: ended.tail + 1 };
  await using other = await openTerminals(gateway);
  expect((await other.refusal("terminal.attach", beyond)).code).toBe("offset_out_of_range");
});

test("attaching in the middle of a flood loses, repeats and reorders no byte", async () => {
  await using gateway = await leaseGateway();
  using task = await openTask(gateway);
  await using client = await openTerminals(gateway);
  const session_id = await client.open(task);
  client.type(session_id, "seq 1 400000; exit\n");
  const watchers: Terminals[] = [];
  await using stack = new AsyncDisposableStack();
  for (const after of [1000, 200_000, 1_000_000]) {
    await waitFor(`${after} bytes`, () => client.output(session_id).length >= after);
    const watcher = stack.use(await openTerminals(gateway));
    watchers.push(watcher);
    await watcher.attach(session_id);
  }
  const late = stack.use(await openTerminals(gateway));
  const { offset } = await late.attach(session_id, "tail");
  for (const each of [client, late, ...watchers]) await each.exit(session_id);
  const whole = await readLog(gateway, session_id);
  for (const each of [client, ...watchers]) expect(hash(each.output(session_id))).toBe(hash(whole));
  expect(hash(late.output(session_id))).toBe(hash(whole.subarray(offset)));
});

test("any bytes pass both ways unchanged", async () => {
  await using gateway = await leaseGateway();
  using task = await openTask(gateway);
  await using client = await openTerminals(gateway);
  const session_id = await client.open(task);
  client.type(session_id, "stty raw -echo; printf 're''ady:'; exec cat\n");
  await client.printed(session_id, "ready:");
  const sent = Buffer.concat([Buffer.from([0, 0xff, 0xc3, 0x28, 3, 4, 0x1b]), randomBytes(MIB)]);
  const CHUNK = 100_001;
  for (let at = 0; at < sent.length; at += CHUNK)
    client.type(session_id, sent.subarray(at, at + CHUNK), `part-${at}`);
  const received = () => {
    const output = client.output(session_id);
    return output.subarray(output.indexOf("ready:") + "ready:".length);
  };
  await waitFor("all of it", () => received().length >= sent.length);
  expect(hash(received())).toBe(hash(sent));
  expect(client.all("terminal.error")).toEqual([]);
});

test("Ctrl-C stops a flood, and the other terminals of the socket are not starved by it", async () => {
  await using gateway = await leaseGateway();
  using task = await openTask(gateway);
  await using client = await openTerminals(gateway);
  const flooding = await client.open(task);
  const quiet = await client.open(task);
  client.type(flooding, "yes\n");
  await client.printed(flooding, "y\r\ny\r\n");
  // A client that is behind: the gateway's outbox is full of the flood when the other has something to say.
  client.socket.socket.pause();
  const tailOf = async () => (await gateway.get("session.get", { session_id: flooding })).tail;
  const isAhead = async () => (await tailOf()) > FAR_AHEAD_BYTES;
  await waitFor("the flood is far ahead", isAhead, patient);
  client.type(quiet, "echo $((6 * 7))x\n");
  await waitFor("the answer is in the log", async () =>
    (await readLog(gateway, quiet)).includes("42x"),
  );
  client.socket.socket.resume();
  const tail = await tailOf();
  await client.printed(quiet, "42x");
  expect(lastOffset(client, flooding)).toBeLessThan(tail);
  client.type(flooding, CTRL_C);
  client.type(flooding, "exit 5\n");
  await waitFor("the flood ends", async () => {
    return (await gateway.get("session.get", { session_id: flooding })).state.kind === "exited";
  });
});

test("closing a flood: the rest of it, the exit, then the acknowledgement, and nothing in between", async () => {
  await using gateway = await leaseGateway();
  using task = await openTask(gateway);
  await using client = await openTerminals(gateway);
  const session_id = await client.open(task);
  client.type(session_id, "yes\n");
  await client.printed(session_id, "y\r\ny\r\n");
  const get = () => gateway.get("session.get", { session_id });
  client.socket.socket.pause();
  const isAhead = async () => (await get()).tail > FAR_AHEAD_BYTES;
  await waitFor("the flood is far ahead", isAhead, patient);
  client.send("terminal.close", { session_id, reason: "enough" });
  const findEnd = async () => {
    const { state } = await get();
    return state.kind === "exited" && state;
  };
  const { tail } = await waitFor("it ends", findEnd, patient);
  client.socket.socket.resume();
  expect(await client.next("terminal.close")).toEqual({ session_id, reason: "enough" });
  expect(client.order(session_id)).toEqual(["opened", "data", "exit", "close"]);
  expect(client.output(session_id).length).toBeGreaterThanOrEqual(tail);
});

test("an attach that fails does not undo the next one", async () => {
  await using gateway = await leaseGateway();
  using task = await openTask(gateway);
  await using owner = await openTerminals(gateway);
  const session_id = await owner.open(task);
  await using client = await openTerminals(gateway);
  client.send("terminal.attach", { request_id: "bad", session_id, since: 1_000_000_000 });
  expect(await client.attach(session_id)).toMatchObject({ role: "viewer" });
  expect(client.all("terminal.error")).toMatchObject([
    { request_id: "bad", code: "offset_out_of_range" },
  ]);
  const data = { session_id, data_b64: "eA==" };
  expect((await client.sessionRefusal("terminal.data", data)).code).toBe("not_controller");
  owner.type(session_id, "echo $((6 * 7))x\n");
  await client.printed(session_id, "42x");
});

test("one types, the others are told who; a takeover leaves the loser watching", async () => {
  await using gateway = await leaseGateway();
  using task = await openTask(gateway);
  await using first = await openTerminals(gateway);
  const session_id = await first.open(task);
  await using second = await openTerminals(gateway);
  expect((await second.attach(session_id)).role).toBe("viewer");
  const data = { session_id, data_b64: "eA==" };
  expect((await second.sessionRefusal("terminal.data", data)).code).toBe("not_controller");
  await using thief = await gateway.attach(session_id, "?role=controller&takeover=1");
  const { generation } = await thief.frame("connected");
  for (const client of [first, second]) {
    const told = await client.next("terminal.control", (control) => control.holder !== null);
    expect(told).toMatchObject({
      session_id,
      generation,
      holder: expect.stringContaining("local"),
    });
  }
  expect((await first.sessionRefusal("terminal.data", data)).code).toBe("not_controller");
  thief.send({ type: "stdin", data: "echo $((6 * 7))x\n" });
  for (const client of [first, second]) await client.printed(session_id, "42x");
  await thief[Symbol.asyncDispose]();
  await first.next("terminal.control", ({ holder }) => holder === null);
  // Attaching again on the same socket takes what is free now.
  expect(await first.attach(session_id, "tail")).toMatchObject({ role: "controller" });
  first.type(session_id, "echo $((7 * 8))x\n");
  for (const client of [first, second]) await client.printed(session_id, "56x");
  expect(first.socket.closed).toBeUndefined();
});

test("observers never change the size; 0 keeps a side, also of what is still under way", async () => {
  await using gateway = await leaseGateway();
  using task = await openTask(gateway);
  await using client = await openTerminals(gateway);
  const session_id = await client.open(task, { cols: 120, rows: 40 });
  await using observer = await openTerminals(gateway);
  await observer.attach(session_id);
  const wish = { session_id, cols: 10, rows: 10 };
  expect((await observer.sessionRefusal("terminal.resize", wish)).code).toBe("not_controller");
  client.send("terminal.resize", { session_id, cols: 0, rows: 0 });
  client.type(session_id, "stty size\n");
  await client.printed(session_id, "40 120");
  client.send("terminal.resize", { session_id, cols: 100, rows: 0 });
  client.send("terminal.resize", { session_id, cols: 0, rows: 50 });
  client.type(session_id, "stty size\n");
  await client.printed(session_id, "50 100");
  const absurd = { session_id, cols: 100_000, rows: 1 };
  expect((await client.sessionRefusal("terminal.resize", absurd)).code).toBe("invalid_request");
});

test("the same input id types once, also over another socket", async () => {
  await using gateway = await leaseGateway();
  using task = await openTask(gateway);
  await using first = await openTerminals(gateway);
  const session_id = await first.open(task);
  const line = "echo $((6 * 7))x\n";
  first.type(session_id, line, "line-1");
  first.type(session_id, line, "line-1");
  await first.printed(session_id, "42x");
  await first[Symbol.asyncDispose]();
  await waitFor("control is free", async () => {
    return (await gateway.get("session.get", { session_id })).controller === null;
  });
  await using second = await openTerminals(gateway);
  // Not waiting for the answer: what is typed waits for the place.
  second.send("terminal.attach", { request_id: "again", session_id });
  second.type(session_id, line, "line-1");
  second.type(session_id, "exit\n", "line-2");
  await second.exit(session_id);
  expect(second.all("terminal.error")).toEqual([]);
  expect(second.output(session_id).toString().match(/42x/g)).toHaveLength(1);
});

test("a gateway that is killed takes no terminal along; what was printed meanwhile is there", async () => {
  await using leased = await leaseGateway();
  const { host } = leased;
  const before = await openGatewayProcess({ dataDir: host.dataDir });
  using task = await openTask(before.door);
  const client = await openTerminals(before.door);
  const session_id = await client.open(task);
  client.type(session_id, "read line; echo $((6 * 7))x; kill -0 $$ && exit 4\n");
  await client.printed(session_id, "read line");
  await before.kill("SIGKILL");
  await client.socket.ended();
  const seen = client.output(session_id).length;
  await waitFor("the host lets go of control", async () => {
    return (await host.client.call("session.get", { session_id })).controller === null;
  });
  await host.client.call("session.input", { session_id, data_b64: "Cg==" });
  await host.output(session_id);
  await using after = await openTestGateway({ host });
  await using again = await openTerminals(after);
  expect(await again.attach(session_id, seen)).toMatchObject({ offset: seen, role: "viewer" });
  expect(await again.exit(session_id)).toMatchObject({ exit_code: 4, reason: "exited" });
  expect(again.output(session_id).toString()).toContain("42x");
  const whole = await readLog(after, session_id);
  expect(Buffer.concat([client.output(session_id), again.output(session_id)]).equals(whole)).toBe(
    true,
  );
});

test("a terminal of a task that is left alone ends once, and says why", async () => {
  await using leased = await leaseGateway();
  const { host } = leased;
  await using gateway = await openTestGateway({ host, flags: { task_idle_timeout_ms: 500 } });
  using task = await openTask(gateway);
  await using client = await openTerminals(gateway);
  const session_id = await client.open(task);
  expect(await client.exit(session_id)).toMatchObject({ reason: "idle_timeout" });
  expect(client.all("terminal.exit")).toHaveLength(1);
});

test("a gateway that stops says so and that one may come back; the terminals go on", async () => {
  await using leased = await leaseGateway();
  const { host } = leased;
  const gateway = await openTestGateway({ host });
  using task = await openTask(gateway);
  await using client = await openTerminals(gateway);
  const session_id = await client.open(task);
  await gateway[Symbol.asyncDispose]();
  expect((await client.socket.ended()).code).toBe(1012);
  expect(client.all("terminal.error")).toMatchObject([{ code: "shutting_down" }]);
  const { state } = await host.client.call("session.get", { session_id });
  expect(state.kind).toBe("running");
});

test("a host that is gone closes the socket; who comes back hears that its terminal is lost", async () => {
  // Its end also ends the host that it starts instead.
  await using gateway = await openTestGateway();
  using task = await openTask(gateway);
  await using client = await openTerminals(gateway);
  const session_id = await client.open(task);
  await gateway.host.kill("SIGKILL");
  expect((await client.socket.ended()).code).toBe(1012);
  expect(client.all("terminal.error")).toMatchObject([{ code: "host_unavailable" }]);
  await using again = await openTerminals(gateway);
  await again.attach(session_id);
  const lost = { exit_code: null, signal: null, reason: "host_lost" };
  expect(await again.exit(session_id)).toMatchObject(lost);
});

async function readLog(door: Door, sessionId: SessionId): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let since = 0; ; ) {
    const response = await door.fetch(
      `/v1/sessions/${sessionId}/output?since=${since}&limit=${8 * MIB}`,
    );
    const bytes = Buffer.from(await response.arrayBuffer());
    if (bytes.length === 0) return Buffer.concat(parts);
    parts.push(bytes);
    since += bytes.length;
  }
}

function lastOffset(client: Terminals, sessionId: string): number {
  return (
    client.all("terminal.data").findLast(({ session_id }) => session_id === sessionId)?.offset ?? 0
  );
}

function hash(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
