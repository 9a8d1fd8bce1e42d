import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { faults } from "#contract/faults.ts";
import { limits } from "#contract/limits.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openReins, type Reins, type Running, succeed } from "#test/harness/reins.ts";
import { runProgram } from "#test/harness/run-program.ts";
import { scripted } from "#test/harness/runtimes.ts";

const HELLO = fileURLToPath(new URL("../../examples/hello.yaml", import.meta.url));

const STEPS = [
  {
    when: { last_user_contains: "write", last_role: "user" },
    text: "Writing.",
    tool_calls: [{ tool: "write_file", input: { path: "note.txt", content: "noted\n" } }],
  },
  { when: { last_user_contains: "write", tool_error: true }, text: "It was refused." },
  { when: { last_user_contains: "write", last_role: "tool" }, text: "It is written." },
  { when: { last_user_contains: "soon" }, delay_ms: 2000, text: "Said at last." },
  { when: { last_user_contains: "for ever" }, delay_ms: 600_000, text: "Never said." },
  { when: { last_user_contains: "fail" }, error: { cause: "refused", message: "I refuse." } },
  {
    when: { last_user_contains: "loop" },
    tool_calls: [{ tool: "read_file", input: { path: "none" } }],
    repeat: true,
  },
  { text: "First." },
  { text: "Second." },
  { text: "Later.", repeat: true },
];

/** One for all: each test has sessions of its own. */
let reins: Reins;
beforeAll(async () => {
  reins = await openReins();
});
afterAll(async () => await reins[Symbol.asyncDispose]());

/** A team of one, in a file. */
function writeTeam({ path }: Reins, agent: object = {}, team: object = {}): string {
  const toolsets = [{ type: "filesystem" }];
  writeFileSync(join(path, "team.yaml"), scripted(STEPS, { toolsets, ...agent }, team));
  return "team.yaml";
}

async function sessionIn(running: Running): Promise<string> {
  const find = () => /session (ses_\w{16});/.exec(running.stderr())?.[1];
  await waitFor("the session is named", () => find() !== undefined, { timeout: 30_000 });
  return find() ?? "";
}

/** Whether it has the session's events open, as who follows them does. */
function isReading({ child }: Running, sessionId: string): boolean {
  const folder = `/proc/${child.pid}/fd`;
  const open = readdirSync(folder).map((fd) => readlinkIfThere(join(folder, fd)));
  return open.some((path) => path?.includes(`${sessionId}/events/`));
}

function readlinkIfThere(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // Closed meanwhile.
    return undefined;
  }
}

function logOf({ home }: Reins, sessionId: string): string {
  return readFileSync(join(home, "sessions", sessionId, "events", "0000000000000000"), "utf8");
}

test("a prompt on stdin that is too long is refused before there is a session", async () => {
  writeTeam(reins);
  const before = (await reins.sessions()).length;
  // Also one that never ends: it is not read any further.
  writeFileSync(join(reins.path, "long"), "x".repeat(limits.message_chars + 1));
  for (const line of ["cat long", "yes"]) {
    const script = `${line} | reins run team.yaml --exec -`;
    const refused = await runProgram(["sh", "-c", script], { cwd: reins.path, env: reins.env });
    expect(refused).toMatchObject({ code: faults.payload_too_large.exit, stdout: "" });
    expect(refused.stderr).toContain(`at most ${limits.message_chars} characters`);
  }
  expect(await reins.sessions()).toHaveLength(before);
});

test("each prompt is a turn: answers on stdout, all else on stderr", async () => {
  writeTeam(reins);
  const first = await reins.run(["run", "team.yaml", "--exec", "One.", "-"], { input: "Two." });
  expect(first).toMatchObject({ code: 0, stdout: "First.\nSecond.\n" });
  expect(first.stderr).toMatch(/^reins: session ses_\w{16}; reins run --session ses_\w{16} /);
  const [session] = await reins.sessions();
  expect(session).toMatchObject({ kind: "agent", state: { kind: "running" } });
  const asked = await reins.run(["run", "--exec", "team.yaml", "write"]);
  expect(asked).toMatchObject({ code: 0, stdout: "Writing.\nIt was refused.\n" });
  expect(asked.stderr).toContain('write_file {"path":"note.txt"');
  expect(existsSync(join(reins.path, "note.txt"))).toBe(false);
  const allowed = await reins.run(["run", "team.yaml", "write", "--exec", "--safety=autonomous"]);
  expect(allowed).toMatchObject({ code: 0, stdout: "Writing.\nIt is written.\n" });
  expect(readFileSync(join(reins.path, "note.txt"), "utf8")).toBe("noted\n");
});

test("the worker of a run ends as soon as config.yaml has it", async () => {
  const config = join(reins.home, "config.yaml");
  mkdirSync(reins.home, { recursive: true, mode: 0o700 });
  writeFileSync(config, "agent_idle_ms: 50\n");
  writeTeam(reins);
  const { code, stderr } = await reins.run(["run", "team.yaml", "--exec", "One."]);
  rmSync(config);
  expect(code).toBe(0);
  const id = /session (ses_\w{16});/.exec(stderr)?.[1] ?? "";
  await waitFor("it has ended by itself", async () => {
    const { state } = await reins.session(id);
    return state.kind === "exited" && state.exit_code === 0;
  });
});

test("events are printed as they stand in the log, the error among them", async () => {
  writeTeam(reins);
  const { code, stdout } = await reins.run([
    "run",
    "team.yaml",
    "--exec",
    "--json",
    "One.",
    "fail",
  ]);
  expect(code).toBe(13);
  const [session] = await reins.sessions();
  const logged = logOf(reins, session?.session_id ?? "").split("\n");
  const printed = stdout.trimEnd().split("\n");
  expect(printed.filter((line) => !logged.includes(line))).toEqual([]);
  const types = printed.map((line) => JSON.parse(line).type);
  expect(types.filter((type) => type === "turn.ended")).toHaveLength(2);
  expect(types.at(-1)).toBe("turn.ended");
  expect(JSON.parse(printed.find((line) => line.includes('"type":"error"')) ?? "{}")).toMatchObject(
    {
      code: "model_failed",
    },
  );
});

test("a dry run says what is in a team and leaves nothing", async () => {
  const home = join(reins.path, "not-made");
  const run = (...args: readonly string[]) =>
    reins.run(["run", ...args], { env: { REINS_HOME: home } });
  writeTeam(reins, { commands: {} });
  const shown = await run(HELLO, "--dry-run");
  expect(succeed(shown)).toMatch(/^team_\w{32}\nroot \(starts\): guide\n {2}Shows what/);
  const json = await run("team.yaml", "--dry-run", "--json", "--model", "scripted/echo");
  expect(JSON.parse(succeed(json))).toMatchObject({
    default_agent: "root",
    agents: [{ name: "root", model: "scripted/echo" }],
  });
  expect(await run("none.yaml", "--dry-run")).toMatchObject({ code: 3 });
  expect(await run("team.yaml", "--dry-run", "--agent", "x")).toMatchObject({ code: 2 });
  for (const how of [["--dry-run"], ["--exec", "Hello"]]) {
    const refused = await run("team.yaml", ...how, "--prompt-file", "no-such-file.md");
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("no-such-file.md") });
  }
  expect(existsSync(home)).toBe(false);
});

test("a cli that is killed leaves its turn running, and its session goes on", async () => {
  writeTeam(reins);
  const running = reins.start(["run", "team.yaml", "--exec", "One.", "Answer soon."]);
  const session = await sessionIn(running);
  await waitFor("the turn runs", () => logOf(reins, session).includes("Answer soon."), {
    timeout: 30_000,
  });
  running.child.kill("SIGKILL");
  await running.ended;
  const countEnds = () => logOf(reins, session).split('"type":"turn.ended"').length - 1;
  await waitFor("the second turn is done", () => countEnds() === 2, { timeout: 30_000 });
  const next = await reins.run(["run", "--session", session, "--exec", "Two."]);
  expect(next).toMatchObject({ code: 0, stdout: "Second.\n" });
  const part = await reins.run(["run", "team.yaml", "--exec", "--session", session.slice(4), "x"]);
  expect(part).toMatchObject({ code: 0, stdout: "Later.\n" });
  expect(part.stderr).not.toContain("the team that it began with");
  const other = await reins.run(["run", HELLO, "--exec", "--session", session, "x"]);
  expect(other).toMatchObject({ code: 0, stdout: "Later.\n" });
  expect(other.stderr).toContain("goes on with the team that it began with");
  const idle = await reins.run(["run", "--session", session, "--exec"]);
  expect(idle).toMatchObject({ code: 2, stdout: "" });
});

test("a question that was left open is refused by who comes back without a terminal", async () => {
  writeTeam(reins);
  const running = reins.start(["run", "team.yaml", "write"]);
  const session = await sessionIn(running);
  await waitFor("it says that it waits", () => running.stderr().includes("waits for an answer"), {
    timeout: 30_000,
  });
  running.child.kill("SIGTERM");
  expect(await running.ended).toMatchObject({ code: 143 });
  // What is under way is followed to its end, then the next turn begins.
  const back = await reins.run(["run", "--session", session, "--exec", "One."]);
  expect(back).toMatchObject({ code: 0, stdout: "It was refused.\nFirst.\n" });
});

test("a worker that is killed ends the wait of all who follow, and the session goes on", async () => {
  writeTeam(reins);
  const running = reins.start(["run", "team.yaml", "--exec", "Think for ever."]);
  const session = await sessionIn(running);
  await waitFor("the turn runs", () => logOf(reins, session).includes("Think for ever."), {
    timeout: 30_000,
  });
  const joined = reins.start(["run", "--session", session, "--exec", "--json"]);
  await sessionIn(joined);
  await waitFor("it follows", () => isReading(joined, session), { timeout: 30_000 });
  process.kill((await reins.session(session)).pid, "SIGKILL");
  for (const { ended } of [running, joined]) {
    const result = await ended;
    expect(result.code).toBe(7);
    expect(result.stderr).toContain(`reins run --session ${session} goes on`);
  }
  const next = await reins.run(["run", "--session", session, "--exec", "One."]);
  expect(next).toMatchObject({ code: 0, stdout: "First.\n" });
});

test("Ctrl-C ends the turn, and the exit code says so", async () => {
  writeTeam(reins);
  const running = reins.start(["run", "team.yaml", "--exec", "Think for ever.", "never asked"]);
  const session = await sessionIn(running);
  await waitFor("the turn runs", () => logOf(reins, session).includes("Think for ever."), {
    timeout: 30_000,
  });
  running.child.kill("SIGINT");
  const ended = await running.ended;
  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(ended.stderr).toContain("the turn was interrupted");
  expect(logOf(reins, session)).not.toContain("never asked");
});

test("what a session is may be chosen when it begins and when it goes on", async () => {
  mkdirSync(join(reins.path, "there"));
  writeFileSync(
    join(reins.path, "two.yaml"),
    "agents:\n  root: { model: scripted/echo }\n  other: { model: scripted/echo }\n",
  );
  const begun = ["--agent", "other", "--working-dir", "there", "--title", "My title"];
  succeed(await reins.run(["run", "two.yaml", "--exec", ...begun, "hi"]));
  const [session] = await reins.sessions();
  expect(session).toMatchObject({ title: "My title", work_dir: join(reins.path, "there") });
  const { session_id = "" } = session ?? {};
  const later = [
    "--session",
    session_id,
    "--agent",
    "root",
    "--title",
    "Other",
    "--safety",
    "strict",
  ];
  succeed(await reins.run(["run", "--exec", ...later, "hi"]));
  expect(await reins.session(session_id)).toMatchObject({ title: "Other" });
  const log = logOf(reins, session_id);
  expect(log).toContain('"type":"agent.switched","agent":"root","from":"other","to":"root"');
  expect(log).toContain('"safety":"strict"');
  const refused = await reins.run(["run", "--session", session_id, "--working-dir", ".", "hi"]);
  expect(refused).toMatchObject({ code: 2 });
});

test("a word is a team by its name or by an option; anything else stays a command", async () => {
  writeTeam(reins);
  mkdirSync(join(reins.home, "teams"), { recursive: true, mode: 0o700 });
  writeFileSync(join(reins.home, "teams", "known.yaml"), scripted([{ text: "I am known." }]));
  const known = await reins.run(["run", "known", "--exec", "hi"]);
  expect(known).toMatchObject({ code: 0, stdout: "I am known.\n" });
  expect(await reins.run(["run", "echo", "--exec", "team.yaml"])).toMatchObject({
    code: 0,
    stdout: "--exec team.yaml\n",
  });
  const command = await reins.run(["run", "--", "team.yaml"]);
  expect(command.code).toBe(127);
});

test("behind a server it is the same, and the token of this machine is used", async () => {
  writeTeam(reins);
  const before = await reins.sessions();
  const server = reins.start(["serve", "--listen", "127.0.0.1:0", "--json"]);
  await server.says("listening");
  const { listening } = JSON.parse(server.stdout().toString());
  const remote = ["--remote", listening];
  const dry = await reins.run(["run", "team.yaml", "--dry-run", ...remote]);
  expect(succeed(dry)).toContain("root (starts): main");
  for (const how of [["--dry-run"], ["--exec", "Hello"]]) {
    const missing = ["--prompt-file", "no-such-file.md"];
    const refused = await reins.run(["run", "team.yaml", ...how, ...missing, ...remote]);
    const stderr = expect.stringContaining("the prompt file no-such-file.md is not there");
    expect(refused).toMatchObject({ code: 2, stdout: "", stderr });
  }
  expect(await reins.sessions()).toHaveLength(before.length);
  const run = await reins.run(["run", "team.yaml", "--exec", ...remote, "One.", "Two."]);
  expect(run).toMatchObject({ code: 0, stdout: "First.\nSecond.\n" });
  const [session] = await reins.sessions();
  const json = ["--session", session?.session_id ?? "", "--exec", "--json", ...remote, "fail"];
  const failed = await reins.run(["run", ...json]);
  expect(failed.code).toBe(13);
  const logged = logOf(reins, session?.session_id ?? "").split("\n");
  const printed = failed.stdout.trimEnd().split("\n");
  expect(printed.filter((line) => !logged.includes(line))).toEqual([]);
  expect(printed.at(-1)).toContain("turn.ended");
  const env = { REINS_TOKEN: "wrong" };
  expect(await reins.run(["run", "--exec", "known", ...remote, "hi"], { env })).toMatchObject({
    code: 4,
  });
  expect(await reins.run(["run", "--exec", "nobody", ...remote, "hi"])).toMatchObject({ code: 3 });
  server.child.kill("SIGTERM");
  await server.ended;
});
