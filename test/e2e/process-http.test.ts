import { afterAll, beforeAll, expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { createNap } from "#test/harness/process-tools.ts";
import { findProcesses } from "#test/harness/processes.ts";

/** The same tools under /v1/processes. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

test("a command runs where it is told to, and nowhere else", async () => {
  const done = await gateway.get("process.execute", { command: "pwd; exit 3", workdir: "/tmp" });
  expect(done).toMatchObject({ success: false, exit_code: 3, output: "/tmp\n" });
  const { status, body } = await gateway.call("process.execute", { command: "pwd" });
  expect([status, body.error]).toMatchObject([
    400,
    { code: "invalid_request", message: expect.stringContaining("workdir") },
  ]);
});

test("a variable that cannot be carried is refused and named, wherever one can be said", async () => {
  const env = '{"A":"b","__proto__":"x"}';
  const asks = [
    ["/v1/processes", '"command":"true","workdir":"/"'],
    ["/v1/sessions", '"kind":"command","command":"true"'],
    ["/v1/shells", '"work_dir":"/"'],
  ];
  for (const [path = "", fields] of asks) {
    const body = `{${fields},"env":${env}}`;
    const headers = { "Content-Type": "application/json" };
    const response = await gateway.fetch(path, { method: "POST", body, headers });
    expect([path, response.status, await response.json()]).toMatchObject([
      path,
      400,
      { error: { code: "invalid_request", message: expect.stringContaining("env.__proto__") } },
    ]);
  }
});

test("how long it waits by itself is a setting", async () => {
  await using patient = await openTestGateway({ flags: { execute_wait_ms: 50 } });
  const { body } = await patient.call("process.execute", { command: createNap(), workdir: "/" });
  expect(body).toMatchObject({ timed_out: true, error: "command timed out after 50ms" });
});

test("a process is followed by queries: durations, offsets and patterns as text", async () => {
  const nap = createNap();
  const started = await gateway.get("process.execute", {
    command: `echo one; echo two; exec ${nap}`,
    workdir: "/",
    timeout: 0,
  });
  const id = started.background_process_id;
  const fetched = async (query: string) =>
    await (await gateway.fetch(`/v1/processes/${id}/output${query}`)).json();
  expect(await fetched("?wait=20s&pattern=two")).toMatchObject({
    running: true,
    output: "one\ntwo\n",
  });
  expect(await fetched("?since=4&wait=0&max_bytes=1024")).toMatchObject({
    output: "two\n",
    offset: 4,
    next_offset: 8,
  });
  expect(await fetched("?since=9")).toMatchObject({ error: { code: "offset_out_of_range" } });
  const list = await (await gateway.fetch("/v1/processes?running=true")).json();
  expect(list).toMatchObject({ processes: [{ process_id: id, bytes: 8, running: true }] });
  const process_id = id ?? ("" as never);
  expect(
    await gateway.get("process.signal", { process_id, signal: "terminate", escalate_after: "20s" }),
  ).toMatchObject({ signal_used: "SIGTERM" });
  expect(await gateway.get("process.wait", { process_id })).toMatchObject({ exit_code: 143 });
  expect(findProcesses(nap)).toEqual([]);
});

test("an id that cannot be one is not found, like one that nothing has", async () => {
  for (const [method, path] of [
    ["GET", "output"],
    ["POST", "wait"],
    ["POST", "signal"],
    ["POST", "input"],
  ] as const) {
    for (const id of ["1", "ses_x", "..%2f", "ses_0000000000000000"]) {
      const body = method === "POST" ? { body: JSON.stringify({ ...extra[path] }) } : {};
      const response = await gateway.fetch(`/v1/processes/${id}/${path}`, { method, ...body });
      expect([path, id, response.status]).toEqual([path, id, 404]);
      expect(await response.json()).toMatchObject({ error: { code: "process_not_found" } });
    }
  }
});

const extra: Record<string, object> = { signal: { signal: "kill" }, input: { text: "x" } };

test("who goes away frees the wait and leaves the process", async () => {
  const nap = createNap();
  const leaving = new AbortController();
  const request = gateway.fetch("/v1/processes", {
    method: "POST",
    body: JSON.stringify({ command: nap, workdir: "/", timeout: "1h" }),
    signal: leaving.signal,
  });
  await waitFor("the nap", () => findProcesses(nap).length === 1);
  leaving.abort();
  await expect(request).rejects.toThrow();
  const { processes } = await gateway.get("process.list", { running: true });
  const process_id = processes[0]?.process_id ?? ("" as never);
  expect(processes).toMatchObject([{ command: nap, background: false }]);
  expect(findProcesses(nap)).toHaveLength(1);
  await gateway.get("process.signal", { process_id, signal: "kill", escalate_after: "10s" });
});

test("200 that start at once all run", async () => {
  const results = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      gateway
        .get("process.execute", {
          command: `echo ${index}; exit ${index % 7}`,
          workdir: "/",
          timeout: "5m",
        })
        .catch((error: unknown) => String(error)),
    ),
  );
  const expected = Array.from({ length: 200 }, (_, index) => `${index}\n ${index % 7}`);
  expect(
    results.map((result) =>
      typeof result === "string" ? result : `${result.output} ${result.exit_code}`,
    ),
  ).toEqual(expected);
}, 120_000);
