import { existsSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import {
  CommandsAdapter,
  createExecdClient,
  HealthAdapter,
  MetricsAdapter,
} from "@alibaba-group/opensandbox/internal";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SessionId } from "#contract/ids.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** The published JavaScript client of the execd API, as it is. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
});

function connect(token = gateway.token) {
  const options = { baseUrl: gateway.url, headers: { "X-EXECD-ACCESS-TOKEN": token } };
  const client = createExecdClient(options);
  const [health, metrics] = [new HealthAdapter(client), new MetricsAdapter(client)];
  return { commands: new CommandsAdapter(client, options), health, metrics };
}

type Execution = Awaited<ReturnType<CommandsAdapter["run"]>>;
const texts = (messages: Execution["logs"]["stdout"]) => messages.map(({ text }) => text);
const idOf = ({ id }: Execution) => id ?? "";

async function finished(commands: CommandsAdapter, id: string) {
  return await waitFor("the end of the command", async () => {
    const status = await commands.getCommandStatus(id);
    return status.running === false && status;
  });
}

test("its metrics are those of the machine, and Prometheus still gets its own", async () => {
  const before = Date.now();
  const { cpuCount, cpuUsedPercentage, ...rest } = await connect().metrics.getMetrics();
  expect(cpuCount).toBe(cpus().length);
  expect(cpuUsedPercentage).toBeGreaterThanOrEqual(0);
  expect(cpuUsedPercentage).toBeLessThanOrEqual(100);
  expect(rest.memoryUsedMiB).toBeGreaterThan(0);
  expect(rest.memoryTotalMiB).toBeGreaterThan(rest.memoryUsedMiB);
  expect(rest.timestamp).toBeGreaterThanOrEqual(before);
  const ours = await gateway.fetch("/metrics");
  expect(ours.headers.get("content-type")).toContain("text/plain");
});

describe("commands", () => {
  test("a command prints on both channels and ends with 0", async () => {
    const { commands, health } = connect();
    expect(await health.ping()).toBe(true);
    const done = await commands.run("echo one; echo two >&2; printf 'three\\n\\nfive'");
    expect(texts(done.logs.stdout)).toEqual(["one", "three", "", "five"]);
    expect(texts(done.logs.stderr)).toEqual(["two"]);
    expect(done.exitCode).toBe(0);
    expect(done.complete?.executionTimeMs).toBeGreaterThanOrEqual(0);
    expect(done.error).toBeUndefined();
  });

  test("lines that are joined are the text that was printed", async () => {
    using dir = openTempDir();
    const file = join(dir.path, "printed");
    const line = `{ seq 1 3000; printf 'a\\r\\n50%%\\r60%%\\n\\n\\n'; printf 'é€😀'; } | tee ${file}`;
    const done = await connect().commands.run(line);
    expect(texts(done.logs.stdout).join("\n")).toBe(readFileSync(file, "utf8"));
  });

  test("a code other than 0 is an error with the code as its value", async () => {
    const seen: unknown[] = [];
    const onEvent = (event: unknown) => void seen.push(event);
    const done = await connect().commands.run("exit 7", undefined, { onEvent });
    expect(done.exitCode).toBe(7);
    expect(done.error).toMatchObject({ name: "CommandExecError", value: "7" });
    expect(done.complete).toBeUndefined();
    expect(seen.at(-1)).toMatchObject({ type: "error", exit_code: 7, timed_out: false });
  });

  test("directory, variables and the user that runs everything anyway are taken", async () => {
    using dir = openTempDir();
    const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    const done = await connect().commands.run('pwd; echo "$GREETING"', {
      workingDirectory: dir.path,
      envs: { GREETING: "good $DAY" },
      ...user,
    });
    expect(texts(done.logs.stdout)).toEqual([dir.path, "good $DAY"]);
  });

  test("a timeout ends the command and all that it started", async () => {
    const { commands } = connect();
    const done = await commands.run("sleep 1000 & echo begun; sleep 1000", { timeoutSeconds: 0.3 });
    expect(texts(done.logs.stdout)).toEqual(["begun"]);
    expect(done.exitCode).toBeGreaterThan(128);
    expect(done.error?.traceback).toEqual(["the timeout was over, so the command was ended"]);
    const status = await commands.getCommandStatus(idOf(done));
    expect(status).toMatchObject({ running: false, exitCode: done.exitCode });
    expect(status.error).toContain("timeout");
  });

  test("a background command is told of at once and is read by its cursor", async () => {
    using dir = openTempDir();
    const go = join(dir.path, "go");
    const { commands } = connect();
    const line = `echo first; until [ -e ${go} ]; do sleep 0.02; done; echo second >&2; exit 3`;
    const started = await commands.run(line, { background: true });
    const id = idOf(started);
    expect(started.complete?.executionTimeMs).toBeGreaterThanOrEqual(0);
    expect(started.logs).toEqual({ stdout: [], stderr: [] });
    const running = await commands.getCommandStatus(id);
    expect(running).toMatchObject({ id, content: line, running: true, exitCode: null });
    expect(running.finishedAt).toBeNull();
    const first = await waitFor("the first line", async () => {
      const logs = await commands.getBackgroundCommandLogs(id);
      return logs.content !== "" && logs;
    });
    expect(first).toEqual({ content: "first\n", cursor: 6 });
    expect(await commands.getBackgroundCommandLogs(id, 6)).toEqual({ content: "", cursor: 6 });
    await commands.run(`touch ${go}`);
    const over = await finished(commands, id);
    expect(over).toMatchObject({ exitCode: 3, error: "exit status 3" });
    expect(Number(over.finishedAt)).toBeGreaterThan(Number(over.startedAt));
    expect(await commands.getBackgroundCommandLogs(id, first.cursor)).toEqual({
      content: "second\n",
      cursor: 13,
    });
    expect(await commands.getBackgroundCommandLogs(id, 1000)).toEqual({ content: "", cursor: 13 });
  });

  test("a cursor never stands in the middle of a character", async () => {
    using dir = openTempDir();
    const go = join(dir.path, "go");
    const { commands } = connect();
    const line = `printf 'a\\xe2\\x82'; until [ -e ${go} ]; do sleep 0.02; done; printf '\\xacb'`;
    const id = idOf(await commands.run(line, { background: true }));
    await waitFor("the first bytes", async () => {
      const session_id = SessionId.parse(id);
      return (await gateway.get("session.get", { session_id })).tail === 3;
    });
    expect(await commands.getBackgroundCommandLogs(id)).toEqual({ content: "a", cursor: 1 });
    await commands.run(`touch ${go}`);
    await finished(commands, id);
    expect((await commands.getBackgroundCommandLogs(id, 1)).content).toBe("€b");
  });

  test("the logs of a foreground command are there too, however long", async () => {
    const { commands } = connect();
    const size = 1_500_000;
    const id = idOf(await commands.run(`head -c ${size} /dev/zero | tr '\\0' x`));
    const { content, cursor } = await commands.getBackgroundCommandLogs(id, 5);
    expect([content.length, cursor]).toEqual([size - 5, size]);
    expect(content.replaceAll("x", "")).toBe("");
  });

  test("an interrupted command has a chance to say something and is over then", async () => {
    const { commands } = connect();
    const line = "trap 'echo bye; exit 9' TERM; echo ready; while :; do sleep 0.02; done";
    const id = idOf(await commands.run(line, { background: true }));
    await waitFor("the trap", async () => {
      return (await commands.getBackgroundCommandLogs(id)).content.includes("ready");
    });
    await commands.interrupt(id);
    expect(await commands.getCommandStatus(id)).toMatchObject({ running: false, exitCode: 9 });
    // In between bash may say that its sleep was ended.
    const { content } = await commands.getBackgroundCommandLogs(id);
    expect(content).toMatch(/^ready\n(Terminated\n)?bye\n$/);
    await expect(commands.interrupt(id)).rejects.toMatchObject({
      statusCode: 409,
      error: { code: "RUNTIME_ERROR" },
    });
  });

  test("one that does not listen is ended all the same", async () => {
    const { commands } = connect();
    const line = "trap '' TERM HUP; echo ready; while :; do sleep 0.02; done";
    const id = idOf(await commands.run(line, { background: true }));
    await waitFor("the trap", async () => {
      return (await commands.getBackgroundCommandLogs(id)).content.includes("ready");
    });
    await commands.interrupt(id);
    expect(await commands.getCommandStatus(id)).toMatchObject({ running: false, exitCode: 137 });
  });

  test("who stops listening does not end the command", async () => {
    using dir = openTempDir();
    const go = join(dir.path, "go");
    const { commands } = connect();
    const leaving = new AbortController();
    let id = "";
    const line = `echo here; until [ -e ${go} ]; do sleep 0.02; done; echo still here`;
    const onInit = (init: { readonly id: string }) => {
      id = init.id;
    };
    const onStdout = () => leaving.abort();
    const left = commands.run(line, undefined, { onInit, onStdout }, leaving.signal);
    await expect(left).rejects.toThrow();
    expect(await commands.getCommandStatus(id)).toMatchObject({ running: true });
    await commands.run(`touch ${go}`);
    expect(await finished(commands, id)).toMatchObject({ exitCode: 0 });
    expect((await commands.getBackgroundCommandLogs(id)).content).toBe("here\nstill here\n");
  });
});

describe("sessions", () => {
  test("directory, variables and functions are there in the next run", async () => {
    using dir = openTempDir();
    const { commands } = connect();
    const id = await commands.createSession({ workingDirectory: dir.path });
    await commands.runInSession(
      id,
      "mkdir sub; cd sub; export A='1 $2'; b=two; f() { echo f:$1; }",
    );
    const done = await commands.runInSession(id, 'pwd; echo "$A" "$b"; f x; echo oops >&2');
    expect(texts(done.logs.stdout)).toEqual([join(dir.path, "sub"), "1 $2 two", "f:x"]);
    expect(texts(done.logs.stderr)).toEqual(["oops"]);
    expect(done.exitCode).toBe(0);
    expect(await commands.getCommandStatus(idOf(done))).toMatchObject({ running: false });
    await commands.deleteSession(id);
  });

  test("a directory that is not there is made", async () => {
    using dir = openTempDir();
    const missing = join(dir.path, "a", "b");
    const { commands } = connect();
    const id = await commands.createSession({ workingDirectory: missing });
    expect(existsSync(missing)).toBe(true);
    expect(texts((await commands.runInSession(id, "pwd")).logs.stdout)).toEqual([missing]);
    await commands.deleteSession(id);
  });

  test("a run goes to the directory that it names, whatever is in its name", async () => {
    using dir = openTempDir();
    const odd = join(dir.path, "it's $HOME; `x`");
    const { commands } = connect();
    const other = await commands.createSession({ workingDirectory: odd });
    const id = await commands.createSession();
    await commands.runInSession(id, "cd() { echo mine; }; alias builtin=false");
    const options = { workingDirectory: odd };
    const done = await commands.runInSession(id, "pwd; echo $LINENO", options);
    expect(texts(done.logs.stdout)).toEqual([odd, "1"]);
    expect(texts((await commands.runInSession(id, "pwd")).logs.stdout)).toEqual([odd]);
    await commands.deleteSession(id);
    await commands.deleteSession(other);
  });

  test("a failing run tells its code and the next one works", async () => {
    const { commands } = connect();
    const id = await commands.createSession();
    const failed = await commands.runInSession(id, "x=kept; exit 5");
    expect(failed).toMatchObject({ exitCode: 5, error: { name: "CommandExecError", value: "5" } });
    expect(texts((await commands.runInSession(id, "echo $x")).logs.stdout)).toEqual(["kept"]);
    await commands.deleteSession(id);
  });

  test("a run that takes too long is ended, and the session is as it was before", async () => {
    const { commands } = connect();
    const id = await commands.createSession();
    await commands.runInSession(id, "x=before");
    const options = { timeoutSeconds: 0.3 };
    const slow = await commands.runInSession(id, "x=after; sleep 1000", options);
    expect(slow.exitCode).toBeGreaterThan(128);
    expect(texts((await commands.runInSession(id, "echo $x")).logs.stdout)).toEqual(["before"]);
    await commands.deleteSession(id);
  });

  test("a second run at the same time is refused, and the first can be interrupted", async () => {
    const { commands } = connect();
    const id = await commands.createSession();
    const begun = Promise.withResolvers<void>();
    let run = "";
    const first = commands.runInSession(id, "echo begun; sleep 1000", undefined, {
      onInit: (init) => {
        run = init.id;
      },
      onStdout: () => begun.resolve(),
    });
    await begun.promise;
    await expect(commands.runInSession(id, "echo second")).rejects.toMatchObject({
      statusCode: 409,
      error: { code: "RUNTIME_ERROR" },
    });
    await commands.interrupt(run);
    expect((await first).exitCode).toBe(143);
    expect(texts((await commands.runInSession(id, "echo second")).logs.stdout)).toEqual(["second"]);
    await commands.deleteSession(id);
  });

  test("a deleted session is gone", async () => {
    const { commands } = connect();
    const id = await commands.createSession();
    await commands.deleteSession(id);
    const gone = { statusCode: 404, error: { code: "CONTEXT_NOT_FOUND" } };
    await expect(commands.deleteSession(id)).rejects.toMatchObject(gone);
    await expect(commands.runInSession(id, "true")).rejects.toMatchObject(gone);
  });
});
