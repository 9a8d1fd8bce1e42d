import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { layOutPackage } from "#bench/lib/packaged.ts";
import { openTempDir } from "#bench/lib/temp-dir.ts";
import { openTempHost, type TempHost } from "#bench/lib/temp-host.ts";
import { readWholeLog } from "#bench/lib/whole-log.ts";
import type { Session } from "#contract/session.ts";
import { layOutReleased } from "./released-program.ts";

/** The newest commit whose hosts and clients people run. */
export const RELEASED = "3c88087";

export interface UpgradeFacts {
  readonly sessions: number;
  readonly agents: Readonly<Record<string, string>>;
  readonly lines: number;
  readonly upgrade_ms: number;
  readonly wrong: readonly string[];
}

const PAUSE_MS = 5;
const POLL_MS = 50;
const WAIT_MS = 60_000;
/** Lines that each client types before and after the upgrade. */
const LEAST_LINES = 40;
/** Soon enough that a worker without work sleeps while this runs. */
const SLEEP_AFTER_MS = 200;

/** The states that agents are left in, and the status of each after the upgrade. */
const agents = {
  working: { prompt: "work", status: "working", sleeps: false },
  asking: { prompt: "write", status: "needs_you", sleeps: false },
  idle: { prompt: "hello", status: "idle", sleeps: false },
  sleeping: { prompt: "hello", status: "sleeping", sleeps: true },
  "asking asleep": { prompt: "write", status: "needs_you", sleeps: true },
} as const;

const TEAM = JSON.stringify({
  agents: {
    root: {
      model: "main",
      description: "Works.",
      instruction: "Work.",
      toolsets: [{ type: "shell" }, { type: "filesystem" }],
    },
  },
  permissions: { allow: ["execute"] },
  models: {
    main: {
      provider: "scripted",
      script: [
        {
          when: { last_user_contains: "work", last_role: "user" },
          tool_calls: [{ tool: "execute", input: { command: "sleep 600", timeout: "600s" } }],
        },
        {
          when: { last_user_contains: "write", last_role: "user" },
          tool_calls: [{ tool: "write_file", input: { path: "a.txt", content: "a" } }],
        },
        { text: "Done.", repeat: true },
      ],
    },
  },
});

/** A host of a released commit with live sessions and typing clients becomes this version. */
export async function upgradeReleased(size: { readonly sessions: number }): Promise<UpgradeFacts> {
  await using dir = openTempDir();
  const released = layOutReleased(join(dir.path), RELEASED);
  const current = layOutPackage(join(dir.path, "current"));
  await using host = await openTempHost({ command: [process.execPath, released] });
  const program = { dir: dir.path, home: host.dir.path };
  const states = await startAgents(host, { ...program, bin: released });
  const terminals: Session[] = [];
  for (let n = Object.keys(states).length; n < size.sessions; n += 1)
    terminals.push(await host.create({ kind: "terminal", argv: ["/bin/cat"] }));
  const upgraded = Promise.withResolvers<void>();
  const typing = terminals.map((session) => typeLines(host, session, upgraded.promise));
  const started = performance.now();
  await run({ ...program, bin: current }, ["host", "upgrade"]);
  const upgrade_ms = performance.now() - started;
  upgraded.resolve();
  const typed = await Promise.all(typing);
  const wrong: string[] = [];
  for (const [n, session] of terminals.entries())
    wrong.push(...(await checkTerminal(host, session, typed[n] ?? 0)));
  wrong.push(...(await checkAgents(host, states)));
  return {
    sessions: terminals.length + Object.keys(states).length,
    agents: states,
    lines: typed.reduce((sum, lines) => sum + lines, 0),
    upgrade_ms,
    wrong,
  };
}

interface Program {
  readonly bin: string;
  readonly dir: string;
  readonly home: string;
}

async function run({ bin, dir, home }: Program, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [bin, ...args], {
    cwd: dir,
    env: { ...process.env, REINS_HOME: home },
  });
  return stdout.trim();
}

/** By the released program, as its users start them. */
async function startAgents(host: TempHost, program: Program): Promise<Record<string, string>> {
  writeFileSync(join(program.dir, "team.yaml"), TEAM);
  const config = join(program.home, "config.yaml");
  const ids: Record<string, string> = {};
  for (const [name, { prompt, sleeps }] of Object.entries(agents)) {
    if (sleeps) writeFileSync(config, `agent_idle_ms: ${SLEEP_AFTER_MS}\n`);
    else rmSync(config, { force: true });
    const id = await run(program, ["run", "-d", "team.yaml", prompt]);
    ids[name] = id;
    const isThere = ({ state }: Session) => (state.kind === "exited") === sleeps;
    await poll(`${name} is there`, async () => isThere(await get(host, id)));
    const waits = prompt === "work" ? undefined : WAITS[prompt];
    if (waits === undefined) await poll("its command runs", async () => await hasChild(host, id));
    else if (!sleeps) await run(program, ["wait", id, "--for", waits]);
  }
  return ids;
}

const WAITS = { write: "needs-answer", hello: "idle" } as const;

async function hasChild({ client }: TempHost, parent_session_id: string): Promise<boolean> {
  const { sessions } = await client.call("session.list", { parent_session_id });
  return sessions.length > 0;
}

/** Types numbered lines one behind the other until the upgrade is over, each with an id so that none comes twice. */
async function typeLines(
  host: TempHost,
  { session_id }: Session,
  upgraded: Promise<void>,
): Promise<number> {
  let isUpgraded = false;
  void upgraded.then(() => {
    isUpgraded = true;
  });
  let line = 0;
  let after = 0;
  while (line < LEAST_LINES || after < LEAST_LINES) {
    const data_b64 = Buffer.from(`line ${line}\n`).toString("base64");
    await host.client.call("session.input", { session_id, data_b64, input_id: `line-${line}` });
    line += 1;
    if (isUpgraded) after += 1;
    await sleep(PAUSE_MS);
  }
  return line;
}

async function checkTerminal(host: TempHost, session: Session, lines: number): Promise<string[]> {
  const { session_id, pid } = session;
  const last = `line ${lines - 1}`;
  const read = async () => {
    const parts: Buffer[] = [];
    const { isDense } = await readWholeLog(host, session_id, (bytes) =>
      parts.push(Buffer.from(bytes)),
    );
    return { isDense, text: Buffer.concat(parts).toString() };
  };
  // The terminal echoes a line, and cat prints it.
  await poll(`${last} twice`, async () => (await read()).text.split(`${last}\r\n`).length > 2);
  const { text, isDense } = await read();
  const now = await get(host, session_id);
  const wrong: string[] = [];
  if (now.state.kind !== "running" || now.pid !== pid)
    wrong.push(`${session_id} is another process`);
  if (!isDense) wrong.push(`${session_id}: its log has a hole`);
  for (let line = 0; line < lines; line += 1) {
    const times = text.split(`line ${line}\r\n`).length - 1;
    if (times !== 2) wrong.push(`${session_id}: line ${line} was printed ${times} times`);
  }
  return wrong;
}

async function checkAgents(
  host: TempHost,
  ids: Readonly<Record<string, string>>,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const [name, { status }] of Object.entries(agents)) {
    const found = (await get(host, ids[name] ?? "")).status;
    if (found !== status) wrong.push(`the agent that is ${name} has the status ${found}`);
  }
  return wrong;
}

function get(host: TempHost, session_id: string): Promise<Session> {
  return host.client.call("session.get", { session_id });
}

async function poll(what: string, check: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + WAIT_MS;
  while (!(await check())) {
    if (performance.now() > until) throw new Error(`not within ${WAIT_MS} ms: ${what}`);
    await sleep(POLL_MS);
  }
}
