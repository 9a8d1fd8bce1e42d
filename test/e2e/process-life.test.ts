import { afterAll, beforeAll, expect, test } from "vitest";
import { locateDataDir } from "#host/data-dir.ts";
import { findHost } from "#host/socket/start-host.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { type GatewayProcess, openGatewayProcess } from "#test/harness/gateway-process.ts";
import { openTestHost, type TestHost } from "#test/harness/host.ts";
import { createNap, openTestTools, type TestTools } from "#test/harness/process-tools.ts";
import { findProcesses } from "#test/harness/processes.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** How long things last: waits, lifetimes, gateways and hosts. */

const stack = new AsyncDisposableStack();
let host: TestHost;
let tools: TestTools;
beforeAll(async () => {
  host = stack.use(await openTestHost());
  tools = stack.use(openTestTools(host));
});
afterAll(() => stack.disposeAsync());

const kill = (process_id: string | undefined) =>
  tools.call("process_signal", { process_id, signal: "kill", escalate_after: "10s" });

test("a wait that is over leaves the process, its id, what it printed and no exit code", async () => {
  const nap = createNap();
  const late = await tools.execute(`echo so far; ${nap}; echo never`, { timeout: "300ms" });
  expect(late).toEqual({
    success: false,
    timed_out: true,
    running: true,
    error: "command timed out after 300ms",
    output: "so far\n",
    note: "it goes on in the background",
    wall_duration_ms: expect.any(Number),
    background_process_id: expect.stringMatching(/^ses_/),
  });
  expect(findProcesses(nap).length).toBeGreaterThan(0);
  await kill(late.background_process_id);
  const end = await tools.call("process_output", { process_id: late.background_process_id });
  expect(end).toMatchObject({ exit_code: 137, signal: "SIGKILL", output: "so far\n" });
});

test("the wait that is not said is the configured one, 10s else", async () => {
  using short = openTestTools(host, { deps: { defaultWaitMs: 200 } });
  const late = await short.call("execute", { command: createNap() });
  expect(late.error).toBe("command timed out after 200ms");
  await kill(late.background_process_id);
});

test("a lifetime is apart from the wait and ends the tree", async () => {
  const nap = createNap();
  const ended = await tools.execute(`${nap} & ${nap}`, { lifetime: "400ms" });
  expect(ended).toMatchObject({
    success: false,
    running: false,
    error: "its lifetime was over, so it was ended",
  });
  expect(ended).not.toHaveProperty("timed_out");
  expect(findProcesses(nap)).toEqual([]);
  const late = await tools.execute(nap, { lifetime: "1s", timeout: "100ms" });
  expect(late).toMatchObject({ timed_out: true, running: true });
  const process_id = late.background_process_id;
  expect(await tools.call("process_wait", { process_id, timeout: "20s" })).toMatchObject({
    running: false,
    success: false,
  });
  await expect(tools.execute("true", { lifetime: 0 })).rejects.toMatchObject({
    code: "invalid_request",
  });
});

test("zero starts and returns; what is no duration starts nothing; a long one never fires early", async () => {
  using dir = openTempDir();
  const nap = createNap();
  for (const timeout of [0, "0", "0s"]) {
    const started = await tools.execute(nap, { timeout });
    expect(started).toMatchObject({ success: true, running: true });
    expect(started).not.toHaveProperty("timed_out");
    await waitFor("the nap", () => findProcesses(nap).length === 1);
    await kill(started.background_process_id);
  }
  for (const timeout of [-1, "-5s", "soon", "", "1w", null, Number.NaN, "1e3"])
    await expect(tools.execute(`touch ${dir.path}/started`, { timeout })).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("timeout"),
    });
  expect(await tools.execute(`ls ${dir.path}`)).toMatchObject({ output: "" });
  for (const timeout of [30, "30", "1d", "1.5h", 2 ** 31 / 1000 + 1, "1000000000h"])
    expect(await tools.execute("sleep 0.05; echo ok", { timeout })).toMatchObject({
      output: "ok\n",
      exit_code: 0,
    });
});

test("all who wait wake at the exit; who goes away frees the wait and leaves the process", async () => {
  const started = await tools.execute("read x; exit 6", { tty: true, run_in_background: true });
  const process_id = started.background_process_id;
  const leaving = new AbortController();
  const left = tools.call(
    "process_wait",
    { process_id, timeout: "1h" },
    { signal: leaving.signal },
  );
  const waits = Array.from({ length: 30 }, () =>
    tools.call("process_wait", { process_id, timeout: "1m" }),
  );
  leaving.abort();
  await expect(left).rejects.toMatchObject({ name: "AbortError" });
  expect(await tools.call("process_output", { process_id })).toMatchObject({ running: true });
  await tools.call("process_input", { process_id, enter: true });
  for (const end of await Promise.all(waits))
    expect(end).toMatchObject({ running: false, exit_code: 6 });
  const nap = createNap();
  const gone = new AbortController();
  const waiting = tools.call("execute", { command: nap, timeout: "1h" }, { signal: gone.signal });
  await waitFor("the nap", () => findProcesses(nap).length === 1);
  gone.abort();
  await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
  expect(findProcesses(nap)).toHaveLength(1);
  const { processes } = await tools.call("process_list", { running: true });
  await kill(processes.find(({ command }) => command === nap)?.process_id);
});

test("the same key never starts twice", async () => {
  using dir = openTempDir();
  const command = `echo x >> ${dir.path}/runs; echo ran; exit 2`;
  const idempotency_key = "a key";
  const both = await Promise.all([
    tools.execute(command, { idempotency_key }),
    tools.execute(command, { idempotency_key }),
  ]);
  const again = await tools.execute(command, { idempotency_key, run_in_background: true });
  for (const result of [...both, again])
    expect(result).toMatchObject({ exit_code: 2, output: "ran\n", running: false });
  expect(await tools.execute(`cat ${dir.path}/runs`)).toMatchObject({ output: "x\n" });
});

test("another owner's processes are unknown, in the same words; an operator sees them", async () => {
  using ada = openTestTools(host, { caller: { process_owner: "ada" } });
  using bob = openTestTools(host, { caller: { process_owner: "bob" } });
  const nap = createNap();
  const idempotency_key = "the same for both";
  const started = await ada.execute(nap, { timeout: 0, tty: true, idempotency_key });
  const process_id = started.background_process_id ?? "";
  const unknown = "ses_0000000000000000";
  const asks = [
    ["process_output", {}],
    ["process_wait", { timeout: 0 }],
    ["process_signal", { signal: "kill" }],
    ["process_input", { text: "x" }],
  ] as const;
  for (const [name, more] of asks) {
    const said = async (id: string) =>
      await bob
        .call(name, { process_id: id, ...more })
        .catch((error: { code: string; message: string }) => ({
          code: error.code,
          message: error.message.replace(id, "<id>"),
        }));
    expect([name, await said(process_id)]).toEqual([name, await said(unknown)]);
    expect(await said(process_id)).toMatchObject({ code: "process_not_found" });
  }
  const ids = async (from: TestTools) =>
    (await from.call("process_list", {})).processes.map((entry) => entry.process_id);
  expect(await ids(bob)).toEqual([]);
  expect(await ids(ada)).toEqual([process_id]);
  expect(await ids(tools)).toContain(process_id);
  // Also a key of theirs means nothing.
  const own = await bob.execute("echo bob", { idempotency_key });
  expect(own).toMatchObject({ output: "bob\n" });
  expect(await ada.call("process_output", { process_id })).toMatchObject({ running: true });
  await kill(process_id);
  const foreign = openTestTools(host, {
    caller: { workspaces: ["wsp_0000000000000000" as never] },
  });
  using _foreign = foreign;
  expect(await ids(foreign)).toEqual([]);
  await expect(foreign.call("process_output", { process_id })).rejects.toMatchObject({
    code: "process_not_found",
  });
});

test("sessions that no tool has started are not listed, and the list says what it leaves out", async () => {
  using many = openTestTools(host, { caller: { process_owner: "many" } });
  const session = await host.create({ command: "true", labels: { owner: "many" } });
  for (let batch = 0; batch < 13; batch += 1)
    await Promise.all(
      Array.from({ length: 8 }, (_, index) => many.execute(`exit ${index}`, { label: "a name" })),
    );
  const nap = createNap();
  const live = (await many.execute(nap, { run_in_background: true })).background_process_id;
  const { processes, omitted } = await many.call("process_list", {});
  expect([processes.length, omitted]).toEqual([100, 5]);
  expect(processes[0]).toMatchObject({ process_id: live, running: true, background: true });
  expect(processes[1]).toMatchObject({ running: false, background: false, label: "a name" });
  expect(processes.map((entry) => entry.process_id)).not.toContain(session.session_id);
  const times = processes.map((entry) => entry.started_at);
  expect(times).toEqual(times.toSorted().toReversed());
  expect((await many.call("process_list", { running: true })).processes).toHaveLength(1);
  expect(await many.call("process_list", { running: false })).toMatchObject({ omitted: 4 });
  await kill(live);
});

test("after kill -9 of the gateway commands live on, and the next one knows output and exit code", async () => {
  using dir = openTempDir();
  const go = `${dir.path}/go`;
  await using first = await openGatewayProcess({ dataDir: host.dataDir });
  const run = (gateway: GatewayProcess, command: string, more: object = {}) =>
    gateway.door.get("process.execute", { command, workdir: "/", ...more });
  const command = `trap 'echo trapped' EXIT; echo x >> ${dir.path}/runs; echo before; until [ -e ${go} ]; do sleep 0.02; done; echo after; exit 11`;
  const idempotency_key = "across";
  const started = await run(first, command, { run_in_background: true, idempotency_key });
  const process_id = started.background_process_id ?? ("" as never);
  await first.door.get("process.output", { process_id, wait_for: "output" });
  const lost = run(first, command, { timeout: "1h", idempotency_key }).catch(() => "lost");
  await first.kill("SIGKILL");
  expect(await lost).toBe("lost");
  await using second = await openGatewayProcess({ dataDir: host.dataDir });
  const read = await second.door.get("process.output", { process_id });
  expect(read).toMatchObject({ running: true, output: "before\n" });
  const resumed = run(second, command, { timeout: "1m", idempotency_key });
  await run(second, `touch ${go}`);
  expect(await resumed).toMatchObject({ exit_code: 11, output: "before\nafter\ntrapped\n" });
  expect(await second.door.get("process.wait", { process_id })).toMatchObject({ exit_code: 11 });
  expect(await run(second, `cat ${dir.path}/runs`)).toMatchObject({ output: "x\n" });
});

test("what cannot start says why and leaves no record", async () => {
  using own = openTestTools(host, { caller: { process_owner: "unlucky" } });
  await expect(own.execute("true", { workdir: "/nowhere/at/all" })).rejects.toMatchObject({
    code: "spawn_failed",
    message: expect.stringContaining("/nowhere/at/all"),
  });
  expect(await own.call("process_list", {})).toEqual({ processes: [], omitted: 0 });
});

test("when the host dies its processes are lost, and nothing says that they run", async () => {
  await using dying = await openTestHost();
  // The gateway starts another host, which nobody else ends.
  await using _next = { [Symbol.asyncDispose]: () => stopHost(dying.dataDir) };
  await using gateway = await openGatewayProcess({ dataDir: dying.dataDir });
  const nap = createNap();
  const waiting = gateway.door.call("process.execute", {
    command: `echo printed; exec ${nap}`,
    workdir: "/",
    timeout: "1m",
  });
  const process_id = await waitFor("what it prints", async () => {
    const [entry] = (await gateway.door.get("process.list", {})).processes;
    return entry?.bytes === 8 && findProcesses(nap).length === 1 && entry.process_id;
  });
  const also = gateway.door.call("process.wait", { process_id, timeout: "1m" });
  // Its wait stands before the host dies.
  await gateway.door.get("process.list", {});
  await dying.kill("SIGKILL");
  const { status, body } = await waiting;
  expect([status, body]).toMatchObject([
    200,
    { success: false, running: false, output: "printed\n" },
  ]);
  expect(String(body.error)).toContain("lost");
  expect(body).not.toHaveProperty("exit_code");
  expect(await also).toMatchObject({ status: 200, body: { running: false, output: "printed\n" } });
  expect(findProcesses(nap)).toEqual([]);
});

async function stopHost(dataDir: string): Promise<void> {
  using host = await findHost(locateDataDir(dataDir));
  await host?.call("host.shutdown", {});
  await host?.closed;
}
