import { expect, test } from "vitest";
import type { Session } from "#contract/session.ts";
import { type Shell, ShellEvent } from "#contract/shell.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { type Door, describeRequest, openTestGateway } from "#test/harness/gateway.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** Runs of a shell as a client of the HTTP API sees them. */

const leaseGateway = leaseForFile(() => openTestGateway());

type Exit = Extract<ShellEvent, { readonly type: "exit" }>;

interface Ran {
  readonly session_id: Session["session_id"];
  readonly out: string;
  readonly err: string;
  readonly exit: Exit;
}

const post = (door: Door, shell_id: Shell["shell_id"], command: string) => {
  const { path, init } = describeRequest("shell.run", { shell_id, command });
  return door.fetch(path, init);
};

/** The events of a stream: the first says the session, the last the end, and offsets have no hole. */
async function readRun(response: Response): Promise<Ran> {
  expect(response.status).toBe(200);
  expect(response.headers.get("Content-Type")).toContain("text/event-stream");
  const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: "));
  const events = lines.map((line) => ShellEvent.parse(JSON.parse(line.slice("data: ".length))));
  const [first, ...rest] = events;
  const last = rest.pop();
  if (first?.type !== "run" || last?.type !== "exit")
    throw new Error(`a run begins and ends: ${JSON.stringify(events)}`);
  const printed = { stdout: "", stderr: "" };
  let next = 0;
  for (const event of rest) {
    if (event.type !== "stdout" && event.type !== "stderr") throw new Error(event.type);
    expect(event.offset).toBe(next);
    const bytes = Buffer.from(event.data, event.encoding);
    next += bytes.length;
    printed[event.type] += bytes.toString("utf8");
  }
  return { session_id: first.session_id, out: printed.stdout, err: printed.stderr, exit: last };
}

async function openShell(door: Door, work_dir = "/") {
  const { shell_id } = await door.get("shell.create", { work_dir });
  return {
    shell_id,
    run: async (command: string) => await readRun(await post(door, shell_id, command)),
  };
}

test("the directory, variables exported or not, functions and any value are there in the next run", async () => {
  await using gateway = await leaseGateway();
  using dir = openTempDir();
  const shell = await openShell(gateway);
  const first = await shell.run(
    [
      `cd ${dir.path}`,
      "export shown=exported; hidden=kept",
      "lines=$'one\\ntwo\\n\\n'; money='$HOME `id` $(id) \\ \"x'\"'\"",
      "greet() { printf 'hi %s\\n' \"$1\"; }",
    ].join("\n"),
  );
  expect(first).toMatchObject({ out: "", err: "", exit: { exit_code: 0, state_saved: true } });
  const second = await shell.run(
    [
      "pwd; sh -c 'echo \"[$shown][$hidden]\"'; echo $hidden; greet you",
      `printf '<%s>' "$lines" "$money"`,
    ].join("\n"),
  );
  const values = "<one\ntwo\n\n><$HOME `id` $(id) \\ \"x'>";
  expect(second.out).toBe(`${dir.path}\n[exported][]\nkept\nhi you\n${values}`);
  // Each run is a command of its own.
  expect(second.session_id).not.toBe(first.session_id);
  const { session_id } = second;
  expect(await gateway.get("session.get", { session_id })).toMatchObject({
    kind: "command",
    state: { kind: "exited", exit_code: 0, tail: second.exit.tail },
  });
});

const FORGED = [
  "event: exit",
  'data: {"type":"exit","exit_code":9,"signal":null,"reason":"exited","timed_out":false,"tail":0,"state_saved":true}',
  "",
  "",
].join("\\n");

interface Ending {
  readonly command: string;
  readonly code: number;
  readonly out?: string;
  readonly err?: RegExp;
}

const endings: Record<string, Ending> = {
  "exit 3": { command: "exit 3", code: 3 },
  "exec of a program": { command: "exec sh -c 'echo new; exit 6'", code: 6, out: "new\n" },
  "exec of none": { command: "exec /no/such/program", code: 127, err: /No such file/ },
  "an unclosed quote": { command: 'echo "open', code: 2, err: /unexpected EOF/ },
  "an unclosed here-document": {
    command: "cat <<END\ntext",
    code: 0,
    out: "text\n",
    err: /here-doc/,
  },
  "a forged end": {
    command: `printf '${FORGED}'; echo "exit 9 $REINS_SESSION_ID" | head -c 6; false`,
    code: 1,
    out: `${FORGED.replaceAll("\\n", "\n")}exit 9`,
  },
  "set -e": { command: "set -e; echo before; false; echo behind", code: 1, out: "before\n" },
  "a signal": { command: "kill -9 $$", code: 137 },
};

test.each(Object.entries(endings))(
  "%s gives its code, and the next run is not wedged",
  async (_name, { command, code, out = "", err = /^$/ }) => {
    await using gateway = await leaseGateway();
    const shell = await openShell(gateway);
    await shell.run("kept=before");
    const ran = await shell.run(command);
    expect(ran).toMatchObject({ out, err: expect.stringMatching(err), exit: { exit_code: code } });
    const next = await shell.run("echo $kept; (exit 5)");
    expect(next).toMatchObject({ out: "before\n", err: "", exit: { exit_code: 5 } });
  },
);

test("while one runs another is refused with 409, and nothing of it is mixed in", async () => {
  await using gateway = await leaseGateway();
  const shell = await openShell(gateway);
  const response = await post(gateway, shell.shell_id, "echo one; read -r line; x=$line; echo $x");
  const others = await Promise.all(
    Array.from({ length: 5 }, () => post(gateway, shell.shell_id, "echo other; x=other")),
  );
  for (const other of others) {
    expect(other.status).toBe(409);
    expect(await other.json()).toMatchObject({ error: { code: "busy" } });
  }
  const { shell_id } = shell;
  const { running_session_id: session_id } = await gateway.get("shell.get", { shell_id });
  if (session_id === null) throw new Error("nothing runs");
  await gateway.get("session.input", { session_id, data: "two\n" });
  expect(await readRun(response)).toMatchObject({ session_id, out: "one\ntwo\n" });
  expect(await shell.run("echo $x")).toMatchObject({ out: "two\n" });
});

test("of many that come at once those that run do so whole and one after the other", async () => {
  await using gateway = await leaseGateway();
  const { shell_id, run } = await openShell(gateway);
  await run("n=0");
  const command = "echo begin; n=$((n + 1)); echo end";
  const responses = await Promise.all(
    Array.from({ length: 12 }, () => post(gateway, shell_id, command)),
  );
  const accepted = responses.filter(({ status }) => status === 200);
  const refused = responses.filter(({ status }) => status === 409);
  expect([accepted.length > 0, accepted.length + refused.length]).toEqual([true, 12]);
  for (const ran of await Promise.all(accepted.map(readRun)))
    expect(ran).toMatchObject({ out: "begin\nend\n", exit: { exit_code: 0 } });
  await Promise.all(refused.map((response) => response.text()));
  expect(await run("echo $n")).toMatchObject({ out: `${accepted.length}\n` });
});

test("a run ends with its command: no tail is waited for, nor what it left in the background", {
  timeout: 30_000,
}, async () => {
  await using gateway = await leaseGateway();
  const shell = await openShell(gateway);
  // With a second behind each they would not fit into the time of a test.
  for (let at = 0; at < 40; at += 1)
    expect(await shell.run(`echo ${at}`)).toMatchObject({ out: `${at}\n` });
  const ran = await shell.run("(read -r _ < /dev/fd/9; echo late) 9< <(sleep 0.3) & echo hi");
  expect(ran).toMatchObject({ out: "hi\n", exit: { exit_code: 0 } });
  await waitFor("what came later is in the log", async () => {
    const path = `/v1/sessions/${ran.session_id}/output?since=0`;
    return (await (await gateway.fetch(path)).text()) === "hi\nlate\n";
  });
});
