import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createClient } from "#client/client.ts";
import { openRemoteBackend } from "#client/runtime.ts";
import {
  type Change,
  createWitness,
  findLate,
  formatMeasured,
  readAgentLog,
} from "#test/harness/change-witness.ts";
import { SLOW_MS } from "#test/harness/control.ts";
import { openPageWorld, type PageWorld } from "#test/harness/page-world.ts";
import { findProcesses, findWorkers, isAlive } from "#test/harness/processes.ts";
import { say } from "#test/harness/runtimes.ts";
import { STATE_TEAM } from "#test/harness/state-team.ts";

/** A page that is never reloaded and `reins ps` show what processes, files and logs say, a second after it is so. */

const AWAY = "Can’t reach the server";

type Open = Awaited<ReturnType<typeof openScript>>;

async function openScript() {
  await using stack = new AsyncDisposableStack();
  const world: PageWorld = stack.use(await openPageWorld([], { config: "agent_idle_ms: 300\n" }));
  const { dataDir } = world.host;
  // A browser reports each connection that is refused while the gateway is down.
  const visit = stack.use(await world.visit({ path: "/", expected: /ERR_|Failed to load/ }));
  const witness = createWitness(visit.page, dataDir);
  const owned = stack.move();
  return { world, witness, dataDir, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** A command or terminal, known to /proc by a word of its own in its command line. */
function createProgram({ world, witness }: Open, word: string) {
  const marker = `${word}-${process.pid}`;
  let id = "";
  const isRunning = () => findProcesses(marker).length > 0;
  return {
    marker,
    id: () => id,
    isRunning,
    see: (change: Change) => witness.see(() => id, change),
    start: async (script: string, fields: object = {}) => {
      const argv = ["sh", "-c", script, marker];
      const request = { kind: "command", argv, title: word, stdin: true, ...fields } as const;
      ({ session_id: id } = await world.door.get("session.create", request));
    },
    type: (data: string) =>
      world.door.get("session.input", { session_id: id as never, data, takeover: true }),
  };
}

async function runPrograms(open: Open): Promise<void> {
  const { world, dataDir } = open;
  const build = createProgram(open, "builder");
  const starts = (program: typeof build, script: string, fields: object = {}) =>
    program.see({
      what: `${program.marker} starts`,
      act: () => program.start(script, fields),
      ...{ real: program.isRunning, row: ["running"], ps: { status: "running" } },
    });
  const ends = (program: typeof build, act: () => Promise<unknown>, word: string) =>
    program.see({
      what: `${program.marker} ends with ${word}`,
      ...{ act, real: () => !program.isRunning(), row: [word], ps: { status: "ended" } },
    });
  const record = () =>
    JSON.parse(readFileSync(join(dataDir, "sessions", build.id(), "session.json"), "utf8"));
  await starts(build, "read line; exit 3");
  const rename = (name: string | null) =>
    world.door.get("session.update", { session_id: build.id() as never, name });
  await build.see({
    what: "it gets a name",
    act: () => rename("nightly"),
    real: () => record().name === "nightly",
    row: ["nightly", "builder", "running"],
    ps: { name: "nightly" },
  });
  await ends(build, () => build.type("\n"), "exit 3");

  const killed = createProgram(open, "killed");
  await starts(killed, "while :; do read line; done");
  const kill = async () => {
    for (const pid of findProcesses(killed.marker)) process.kill(pid, "SIGKILL");
  };
  await ends(killed, kill, "SIGKILL");

  const fine = createProgram(open, "fine");
  await starts(fine, "read line; exit 0");
  await ends(fine, () => fine.type("\n"), "exit 0");

  const shell = createProgram(open, "shell");
  await starts(shell, "while :; do read line; done", { kind: "terminal", stdin: undefined });
  const close = () => world.door.get("session.close", { session_id: shell.id() as never });
  await ends(shell, close, "closed");

  const short = createProgram(open, "short");
  await starts(short, "while :; do read line; done", { lifetime_ms: 3000 });
  await ends(short, async () => undefined, "closed");
}

/** An agent whose worker says what the test tells it to. */
async function runToldAgent({ world, witness, dataDir }: Open): Promise<void> {
  const { client } = world.host;
  let session_id = "" as never;
  const log = () => readAgentLog(dataDir, session_id);
  const isWorking = () => log().hasTurn && log().questions.length === 0;
  const see = (change: Change) => witness.see(() => session_id, change);
  const tell = async (event: object, eof = false) => {
    const line = JSON.stringify({ at: new Date().toISOString(), ...event });
    const data_b64 = Buffer.from(`${line}\n`).toString("base64");
    await client.call("session.input", { session_id, data_b64, eof });
  };
  let pid = 0;
  await see({
    what: "an agent starts",
    act: async () => {
      const made = await world.host.create({ kind: "agent", argv: ["/bin/cat"], title: "told" });
      session_id = made.session_id as never;
      pid = made.pid ?? 0;
    },
    ...{ real: () => isAlive(pid), row: ["starting"], ps: { status: "starting" } },
  });
  const says = (what: string, event: object, shown: Omit<Change, "what" | "act">) =>
    see({ what, act: () => tell(event), ...shown });
  await says(
    "it is ready",
    { type: "agent.info", name: "root", model: "scripted/echo" },
    { real: () => log().last === "agent.info", row: ["idle"], ps: { status: "idle" } },
  );
  const working = { real: isWorking, row: ["working"], ps: { status: "working" } } as const;
  await says("a turn starts", { type: "turn.started", turn_id: "t" }, working);
  const asking = {
    real: () => log().questions.length === 1,
    row: ["needs you", "asks: May I?"],
    ps: { status: "needs_you" },
  } as const;
  const approval = { approval_id: "a", kind: "tool", message: "May I?" };
  await says("it asks for approval", { type: "approval.requested", ...approval }, asking);
  await says("it is approved", { type: "approval.resolved", approval_id: "a" }, working);
  const question = { elicitation_id: "e", message: "May I?" };
  await says("it has a question", { type: "elicitation.requested", ...question }, asking);
  await says("it is answered", { type: "elicitation.resolved", elicitation_id: "e" }, working);
  const failed = "tool execute failed with exit code 3: no tests";
  const output = "no tests\n[exit code 3 after 0.1 s]";
  await says(
    "its command fails",
    { type: "tool.result", tool: "execute", call_id: "c", output, is_error: false },
    { real: () => log().last === "tool.result", row: [failed], ps: { last_line: failed } },
  );
  await says(
    "the turn ends",
    { type: "turn.ended", turn_id: "t", reason: "done" },
    { real: () => log().last === "turn.ended", row: ["idle"], ps: { status: "idle" } },
  );
  await see({
    what: "it sleeps",
    act: () => tell({ type: "hook.started", hook: "x", command: "y" }, true),
    ...{ real: () => !isAlive(pid), row: ["sleeping"], ps: { status: "sleeping", pid: null } },
  });
}

/** A real agent with a scripted model. Answers its id; it works. */
async function runRealAgent({ world, witness, dataDir }: Open): Promise<string> {
  const { url } = world.door;
  const token = readFileSync(join(dataDir, "token"), "utf8").trim();
  const backend = openRemoteBackend(createClient({ url, token }));
  const runtime = await backend.create({ source: STATE_TEAM, working_dir: dataDir });
  const { session_id } = runtime;
  const log = () => readAgentLog(dataDir, session_id);
  const workers = () => findWorkers(session_id);
  const isAsleep = () => workers().length === 0 && !log().hasTurn;
  const see = (change: Change) => witness.see(() => session_id, change);
  const sleeping = { row: ["sleeping"], ps: { status: "sleeping", pid: null } } as const;
  const works = (what: string) =>
    see({
      what,
      act: () => runtime.send(say("slow")),
      real: () => workers().length > 0 && log().hasTurn,
      ...{ row: ["working"], ps: { status: "working" } },
    });
  await see({ what: "a new agent sleeps", real: isAsleep, ...sleeping });
  await works("a message wakes it");
  const interrupt = () => runtime.interrupt();
  await see({ what: "it is interrupted", act: interrupt, real: isAsleep, ...sleeping });
  const needsYou = ["needs you", "asks: write_file a.txt"];
  await see({
    what: "it asks before it writes a file",
    act: () => runtime.send(say("file")),
    real: () => log().questions.length === 1 && !existsSync(join(dataDir, "a.txt")),
    ...{ row: needsYou, ps: { status: "needs_you" } },
  });
  await see({
    what: "it sleeps while it asks",
    real: () => workers().length === 0 && log().questions.length === 1,
    ...{ row: needsYou, ps: { status: "needs_you", pid: null } },
  });
  const approval_id = log().questions[0] ?? "";
  await see({
    what: "it is approved, writes the file and sleeps",
    act: () => runtime.resume({ approval_id, decision: "approve" }),
    real: () => existsSync(join(dataDir, "a.txt")) && isAsleep(),
    ...{ row: ["sleeping", "Done with it."], ps: { ...sleeping.ps, last_line: "Done with it." } },
  });
  await see({
    what: "its model refuses",
    act: () => runtime.send(say("fail")),
    real: () => log().last !== "turn.started" && isAsleep(),
    ...{ row: ["sleeping", "I refuse."], ps: { status: "sleeping" } },
  });
  await works("it works again");
  await see({
    what: "its worker is killed",
    act: async () => {
      for (const pid of workers()) process.kill(pid, "SIGKILL");
    },
    real: () => workers().length === 0,
    ...{ row: ["crashed"], ps: { status: "ended", pid: null } },
  });
  await works("a message starts it again");
  return session_id;
}

async function runOutages(open: Open, agentId: string): Promise<void> {
  const { world, witness } = open;
  const left = createProgram(open, "left");
  const lost = createProgram(open, "lost");
  await left.start("read line; exit 5");
  await lost.start("while :; do read line; done");
  let isServed = true;
  await witness.see(() => agentId, {
    what: "the gateway is killed",
    act: async () => {
      await world.killGateway();
      isServed = false;
    },
    real: () => !isServed,
    notice: { text: AWAY, isShown: true },
    ...{ row: ["working"], ps: { status: "working" } },
  });
  const { client } = world.host;
  await left.see({
    what: "a command ends while the gateway is away",
    act: () => client.call("session.input", { session_id: left.id() as never, data_b64: "Cg==" }),
    real: () => !left.isRunning(),
    notice: { text: AWAY, isShown: true },
    ps: { status: "ended" },
  });
  await left.see({
    what: "the gateway is back",
    act: async () => {
      await world.startGateway();
      isServed = true;
    },
    real: () => isServed,
    notice: { text: AWAY, isShown: false },
    row: ["exit 5"],
  });
  const hostPid = world.host.pid;
  await witness.see(() => agentId, {
    what: "the host is killed while an agent works",
    act: () => world.host.kill("SIGKILL"),
    real: () => !isAlive(hostPid),
    ...{ row: ["lost"], ps: { status: "ended", pid: null } },
  });
  await lost.see({
    what: "its command is lost with it",
    real: () => !isAlive(hostPid),
    ...{ row: ["lost"], ps: { status: "ended" } },
  });
  const next = createProgram(open, "next");
  await next.see({
    what: "the next host starts a command",
    act: () => next.start("while :; do read line; done"),
    ...{ real: next.isRunning, row: ["running"], ps: { status: "running" } },
  });
  await next.see({
    what: "it is closed",
    act: () => world.door.get("session.close", { session_id: next.id() as never }),
    ...{ real: () => !next.isRunning(), row: ["closed"], ps: { status: "ended" } },
  });
  const dir = join(open.dataDir, "sessions", next.id());
  await next.see({
    what: "it is removed",
    act: () => world.door.get("session.close", { session_id: next.id() as never, purge: true }),
    ...{ real: () => !existsSync(dir), row: null, ps: null },
  });
}

test("every change is shown by a page that is never reloaded and by ps", {
  timeout: SLOW_MS,
}, async () => {
  await using open = await openScript();
  await runPrograms(open);
  await runToldAgent(open);
  const agentId = await runRealAgent(open);
  await runOutages(open, agentId);
  const { measured } = open.witness;
  const table = `\n   page      ps\n${formatMeasured(measured)}`;
  expect(measured.length, table).toBeGreaterThanOrEqual(30);
  expect(findLate(measured), table).toEqual([]);
});
