import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { catches } from "#test/harness/processes.ts";
import { type Proto, type ProtoLine, startProto } from "#test/harness/proto.ts";
import { openReins, type Reins, succeed } from "#test/harness/reins.ts";
import { scripted } from "#test/harness/runtimes.ts";

const STEPS = [
  {
    when: { last_user_contains: "write", last_role: "user" },
    tool_calls: [{ tool: "write_file", input: { path: "note.txt", content: "noted\n" } }],
  },
  { when: { last_user_contains: "write", tool_error: true }, text: "It was refused." },
  { when: { last_user_contains: "write", last_role: "tool" }, text: "It is written." },
  {
    when: { last_user_contains: "ask me", last_role: "user" },
    tool_calls: [{ tool: "user_prompt", input: { message: "Which colour?" } }],
  },
  { when: { last_user_contains: "ask me", last_role: "tool" }, text: "Thanks." },
  { when: { last_user_contains: "for ever" }, delay_ms: 600_000, text: "Never said." },
  // Whatever an encoder might change: keys that look like numbers, escapes, half a character, numbers.
  {
    when: { last_user_contains: "strange" },
    tool_calls: [
      {
        tool: "none",
        input: { b: 1, 2: "\ud800/\u2028\u007f\\", 1: [1e21, -0.5] },
      },
    ],
    text: "a\u0000\u001b[31m😀",
  },
  { text: "First." },
  { text: "Later.", repeat: true },
];

/** Once for each `reins`: a second agent may be reading the file. */
function writeTeam(reins: Reins): void {
  const toolsets = [{ type: "filesystem" }, { type: "user_prompt" }];
  writeFileSync(join(reins.path, "team.yaml"), scripted(STEPS, { toolsets }));
}

async function startAgent(reins: Reins): Promise<string> {
  const started = await reins.run(["run", "team.yaml", "Hello."]);
  expect(succeed(started)).toBe("First.\n");
  const { stderr } = started;
  return /session (ses_\w{16});/.exec(stderr)?.[1] ?? "";
}

test.concurrent("a signal that comes while the run is looked for ends it, whether stdin ends or not", async () => {
  await using reins = await openReins();
  const session_id = await reins.detach(["--", "sleep", "1000"]);
  const host = (await reins.hostPid()) ?? 0;
  process.kill(host, "SIGSTOP");
  const running = reins.start(["proto", "--to", session_id], { input: "pipe" });
  await waitFor("proto listens for it", () => catches(running.pid, "SIGHUP"));
  running.child.kill("SIGHUP");
  process.kill(host, "SIGCONT");
  expect(await running.ended).toMatchObject({ code: 128 + constants.signals.SIGHUP });
});

async function endOf({ running }: Proto) {
  running.child.stdin?.end();
  return await running.ended;
}

describe("proto", () => {
  // One for all: each test speaks to a run of its own.
  let reins: Reins;
  beforeAll(async () => {
    reins = await openReins();
    writeTeam(reins);
    // Else each of the tests that run at the same time would start a host, and all but one would give up.
    succeed(await reins.run(["ps", "-a"]));
  });
  afterAll(async () => await reins[Symbol.asyncDispose]());

  test.concurrent("prints ready first, answers each request once with its id, and ends at the end of stdin", async () => {
    const session_id = await startAgent(reins);
    const proto = await startProto(reins, ["--to", session_id]);
    expect(proto.lines()[0]).toEqual({
      ...{ type: "ready", address: null, session_id, kind: "agent", next: expect.any(Number) },
    });
    const sent = await proto.ask({ id: 1, type: "send", message: "Go on." });
    expect(sent).toEqual({ id: 1, type: "ack", status: "started", turn_id: expect.any(String) });
    await proto.event("turn.ended");
    const later = await proto.ask({ id: "two", type: "followup", message: "And on." });
    expect(later).toMatchObject({ id: "two", type: "ack", status: "started" });
    const transcript = await proto.ask({ id: 3, type: "transcript", limit: 1, from: 1 });
    expect(transcript).toMatchObject({
      ...{ id: 3, type: "transcript", title: "Hello.", position: 1 },
      messages: [{ role: "assistant", text: "First." }],
    });
    const status = await proto.ask({ id: 4, type: "status" });
    expect(status).toMatchObject({
      type: "status",
      session: { session_id },
      agent: { agent: "root" },
    });
    // Without an id there is an answer as well, without one.
    proto.write('{"type":"interrupt"}\n');
    const ack = await proto.find("an ack", ({ id, type }) => id === undefined && type === "ack");
    expect(ack).toEqual({ type: "ack", interrupted: expect.any(Boolean) });
    const { code, stderr } = await endOf(proto);
    expect(code).toBe(0);
    expect(stderr).toBe(`reins: speaks to ${session_id}\n`);
    const lines = proto.lines();
    expect(lines.at(-1)).toEqual({ type: "closed", reason: "stdin" });
    expect(lines.filter(({ id }) => id !== undefined).map(({ id }) => id)).toEqual([
      1,
      "two",
      3,
      4,
    ]);
  });

  test.concurrent("an invalid line is an error, the next request is answered, and blank lines are ignored", async () => {
    const proto = await startProto(reins, ["--to", await startAgent(reins)]);
    const wrong: [line: string | Buffer, error: object][] = [
      [
        "{nope\n",
        { code: "invalid_request", message: expect.stringContaining("the line is not JSON") },
      ],
      ["[1]\n", { code: "invalid_request" }],
      ["null\n", { code: "invalid_request" }],
      [Buffer.from([0x22, 0xff, 0x22, 0x0a]), { message: expect.stringContaining("UTF-8") }],
      ['{"id":{},"type":"status"}\n', { message: expect.stringContaining("id: ") }],
      [
        '{"id":12345678901234567890,"type":"status"}\n',
        { message: expect.stringContaining("id: ") },
      ],
      ['{"id":1}\n', { id: 1, message: expect.stringContaining("there is no type") }],
      [
        '{"id":2,"type":"constructor"}\n',
        { id: 2, message: expect.stringContaining("known are send,") },
      ],
      ['{"id":3,"type":"send"}\n', { id: 3, message: expect.stringContaining("message: ") }],
      [
        '{"id":4,"type":"send","message":"  "}\n',
        { id: 4, message: "message: the message is empty" },
      ],
      ['{"id":5,"type":"status","more":1}\n', { id: 5, message: expect.stringContaining("more") }],
      ['{"id":6,"type":"resume"}\n', { id: 6, code: "nothing_pending" }],
      ['{"id":7,"type":"elicitation","content":{}}\n', { id: 7, code: "nothing_pending" }],
      ['{"id":8,"type":"resume","decision":"perhaps"}\n', { id: 8, code: "invalid_request" }],
    ];
    proto.write("\n  \r\n\t\n");
    for (const [line] of wrong) proto.write(line);
    expect(await proto.ask({ id: "end", type: "status" })).toMatchObject({ type: "status" });
    const replies = proto.lines().slice(1, -1);
    expect(replies).toEqual(
      wrong.map(([, error]) => expect.objectContaining({ type: "error", ...error })),
    );
    expect(replies.slice(0, 6).every((reply) => !("id" in reply))).toBe(true);
    expect(await endOf(proto)).toMatchObject({ code: 0 });
  });

  test.concurrent("a line of 1 MiB is read, a longer one is refused, and the last line needs no newline", async () => {
    const proto = await startProto(reins, ["--to", await startAgent(reins)]);
    const request = (bytes: number) => {
      const whole = JSON.stringify({ id: bytes, type: "status", more: "" });
      return `${whole.slice(0, -2)}${"x".repeat(bytes - whole.length)}"}`;
    };
    const most = limits.frame_bytes;
    proto.write(`${request(most)}\n${request(most + 1)}\n${request(5 * most)}\n`);
    proto.running.child.stdin?.end('{"id":"last","type":"status"}');
    expect(await proto.running.ended).toMatchObject({ code: 0 });
    const [, read, ...rest] = proto.lines();
    expect(read).toMatchObject({ id: most, type: "error", code: "invalid_request" });
    const tooLong = { type: "error", code: "payload_too_large" };
    expect(rest).toMatchObject([
      tooLong,
      tooLong,
      { id: "last", type: "status" },
      { type: "closed" },
    ]);
    expect(rest.slice(0, 2).every((reply) => !("id" in reply))).toBe(true);
  });

  test.concurrent("events are the bytes of the log from the requested offset", async () => {
    const session_id = await startAgent(reins);
    const proto = await startProto(reins, ["--since", "0", "--to", session_id]);
    await proto.ask({ id: 1, type: "send", message: "Something strange." });
    await waitFor(
      "both turns are told",
      () => proto.running.stdout().toString().split('"type":"turn.ended"').length === 3,
    );
    await endOf(proto);
    const log = readFileSync(join(reins.home, "sessions", session_id, "events", "0".repeat(16)));
    const forwarded = proto.running
      .stdout()
      .toString()
      .split("\n")
      .filter((line) => line.startsWith('{"type":"event",'));
    expect(forwarded.length).toBeGreaterThan(15);
    expect(log.toString()).toContain(String.raw`"2":"\ud800/`);
    const isAnswer = (line: string) => JSON.parse(line).type === "reply";
    const written = log
      .toString()
      .split("\n")
      .slice(0, -1)
      .filter((line) => !isAnswer(line));
    const told = forwarded.map((line) =>
      line.slice('{"type":"event","event":'.length, line.lastIndexOf(',"next":')),
    );
    expect(told).toEqual(written.slice(0, told.length));
    const nexts = forwarded.map((line) => Number(JSON.parse(line).next));
    expect(nexts.every((next) => log[next - 1] === 0x0a)).toBe(true);
    // Where one stops the next goes on.
    const [, second, third] = nexts;
    const again = await startProto(reins, ["--since", String(second), "--to", session_id]);
    const first = await again.find("an event", ({ type }) => type === "event");
    expect(first.next).toBe(third);
    await endOf(again);
  });

  test.concurrent("a question is answered and a turn is interrupted without ids if there is only one", async () => {
    const proto = await startProto(reins, ["--to", await startAgent(reins)]);
    await proto.ask({ id: 1, type: "send", message: "write" });
    const { approval_id } = await proto.event("approval.requested");
    const no = { type: "resume", decision: "reject", reason: "Not today." };
    expect(await proto.ask({ id: 2, ...no })).toEqual({ id: 2, type: "ack", approval_id });
    const resolved = await proto.event("approval.resolved");
    expect(resolved).toMatchObject({ decision: "reject", reason: "Not today." });
    await proto.event("turn.ended");
    await proto.ask({ id: 3, type: "send", message: "ask me" });
    const { elicitation_id } = await proto.event("elicitation.requested");
    const answer = { type: "elicitation", content: { answer: "blue" } };
    const answered = await proto.ask({ id: 4, ...answer });
    expect(answered).toEqual({ id: 4, type: "ack", elicitation_id });
    await proto.find("Thanks", ({ event }) => JSON.stringify(event)?.includes("Thanks.") === true);
    await waitFor("it is idle", async () => {
      const id = Math.random();
      proto.write(`${JSON.stringify({ id: String(id), type: "status" })}\n`);
      const { agent } = await proto.find("status", (line) => line.id === String(id));
      return (agent as { activity: string }).activity === "idle";
    });
    await proto.ask({ id: 5, type: "send", message: "for ever" });
    expect(await proto.ask({ id: 6, type: "send", message: "Steered." })).toMatchObject({
      status: "queued",
    });
    expect(await proto.ask({ id: 7, type: "interrupt" })).toEqual({
      ...{ id: 7, type: "ack", interrupted: true },
    });
    await endOf(proto);
  });

  test.concurrent("a terminal takes input; requests for agents are unsupported", async () => {
    const id = await reins.detach([
      "--tty",
      "--",
      "sh",
      "-c",
      "read line; echo got:$line; sleep 600",
    ]);
    const proto = await startProto(reins, ["--to", id]);
    expect(proto.lines()[0]).toMatchObject({ type: "ready", kind: "terminal" });
    const typed = await proto.ask({ id: 1, type: "send", message: "hello" });
    expect(typed).toEqual({ id: 1, type: "ack", status: "typed" });
    await waitFor("it was typed", async () =>
      succeed(await reins.run(["logs", id])).includes("got:hello"),
    );
    for (const type of ["followup", "transcript"] as const)
      expect(
        await proto.ask({ id: type, type, ...(type === "followup" ? { message: "x" } : {}) }),
      ).toMatchObject({
        ...{ type: "error", code: "unsupported" },
      });
    expect(await proto.ask({ id: 2, type: "status" })).toMatchObject({ agent: null });
    succeed(await reins.run(["close", id]));
    const ended = await proto.find("the end", ({ type }) => type === "events_ended");
    expect(ended).toEqual({ type: "events_ended", next: expect.any(Number) });
    const late = await proto.ask({ id: 3, type: "send", message: "late" });
    expect(late).toMatchObject({ type: "error", code: "already_exited" });
    expect(await endOf(proto)).toMatchObject({ code: 0 });
  });

  test.concurrent("a failed event stream is reported and sets the exit code, and requests are still answered", async () => {
    const proto = await startProto(reins, ["--since", "7", "--to", await startAgent(reins)]);
    const ended = await proto.find("the end", ({ type }) => type === "events_ended");
    expect(ended).toMatchObject({ next: 7, code: "offset_out_of_range" });
    expect(await proto.ask({ id: 1, type: "status" })).toMatchObject({ type: "status" });
    expect(await endOf(proto)).toMatchObject({ code: 2 });
  });

  test.concurrent("over a server it is the same; a killed server is reported, also to every request", async () => {
    const session_id = await startAgent(reins);
    await using gateway = await openGatewayProcess({ dataDir: reins.home });
    const remote = `http://127.0.0.1:${gateway.port}`;
    const proto = await startProto(reins, ["--remote", remote, "--to", session_id]);
    expect(proto.lines()[0]).toMatchObject({ type: "ready", address: remote, session_id });
    await proto.ask({ id: 1, type: "send", message: "Go on." });
    expect(await proto.event("turn.ended")).toMatchObject({ reason: "done" });
    await gateway.kill("SIGKILL");
    const refused = await proto.ask({ id: 2, type: "interrupt" });
    expect(refused).toMatchObject({ type: "error", code: "host_unavailable" });
    const { port } = gateway;
    await using _again = await openGatewayProcess({ dataDir: reins.home, port });
    expect(await proto.ask({ id: 3, type: "status" })).toMatchObject({ type: "status" });
    await proto.ask({ id: 4, type: "send", message: "And on." });
    const isLater = ({ event }: ProtoLine) => JSON.stringify(event)?.includes("And on.") === true;
    await proto.find("the next turn", isLater);
    expect(await endOf(proto)).toMatchObject({ code: 0 });
  });

  test.concurrent("a signal ends it with a last line; a closed stdout ends it; without a run it prints nothing", async () => {
    // Without a name it is the newest run, so it has to be the only one.
    await using reins = await openReins();
    const none = await reins.run(["proto"]);
    expect(none).toMatchObject({ code: 8, stdout: "" });
    expect(none.stderr).toContain("reins run");
    writeTeam(reins);
    await startAgent(reins);
    const proto = await startProto(reins);
    proto.running.child.kill("SIGTERM");
    expect(await proto.running.ended).toMatchObject({ code: 143 });
    expect(proto.lines().at(-1)).toEqual({ type: "closed", reason: "signal" });
    const deaf = await startProto(reins);
    deaf.running.child.stdout?.destroy();
    deaf.write('{"id":1,"type":"status"}\n{"id":2,"type":"status"}\n');
    const [code] = await once(deaf.running.child, "exit");
    expect(code).toBe(0);
    expect(deaf.running.stderr()).not.toContain("Error");
  });
});
