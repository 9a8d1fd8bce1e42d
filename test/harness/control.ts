import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import { waitFor } from "./eventually.ts";
import { openGatewayProcess } from "./gateway-process.ts";
import { openReins, type Reins } from "./reins.ts";
import type { RunResult } from "./run-program.ts";
import { scripted } from "./runtimes.ts";
import { asking, writing } from "./steps.ts";

/** A busy machine takes its time; nothing waits longer than it has to. */
export const LONG_MS = 30_000;
/** For tests that run many commands, one after the other. */
export const SLOW_MS = 240_000;

/** One agent for all that a person does from a command line. */
const STEPS = [
  ...writing({ text: "Writing." }),
  ...asking("Blue it is."),
  { when: { last_user_contains: "ask me", last_role: "tool" }, text: "None it is." },
  {
    when: { last_user_contains: "ask twice", last_role: "user" },
    tool_calls: [
      { tool: "user_prompt", input: { message: "First?" } },
      { tool: "user_prompt", input: { message: "Second?" } },
    ],
  },
  {
    when: { last_user_contains: "work", last_role: "user" },
    text: "Working.",
    tool_calls: [
      {
        tool: "execute",
        input: { command: "until [ -e done ]; do sleep 0.05; done", timeout: "60s" },
      },
    ],
  },
  { when: { last_user_contains: "turn left" }, text: "Turned left." },
  { when: { last_user_contains: "for ever" }, delay_ms: 600_000, text: "Never said." },
  { text: "Done.", repeat: true },
];

const toolsets = [{ type: "filesystem" }, { type: "user_prompt" }, { type: "shell" }];

const permissions = { allow: ["execute"] };

export interface Control extends AsyncDisposable {
  readonly reins: Reins;
  /** What a command needs to ask here, or to ask the server. */
  readonly where: readonly string[];
  /** A command of the cli, asked here or over the server. */
  run(...args: readonly string[]): Promise<RunResult>;
  /** A command with something on stdin. */
  feed(input: string, ...args: readonly string[]): Promise<RunResult>;
  /** An agent whose first turn is done; answers its id. */
  agent(): Promise<string>;
  /** Its log, line by line, as it lies on the disk. */
  logOf(sessionId: string): string[];
}

export type Way = "local" | "remote";

export async function openControl(way: Way): Promise<Control> {
  await using stack = new AsyncDisposableStack();
  const reins = stack.use(await openReins());
  writeFileSync(join(reins.path, "team.yaml"), scripted(STEPS, { toolsets }, { permissions }));
  const where = way === "local" ? [] : ["--remote", await serve(reins, stack)];
  const run: Control["run"] = (...args) => reins.run([...args, ...where]);
  const owned = stack.move();
  return {
    reins,
    where,
    run,
    feed: (input, ...args) => reins.run([...args, ...where], { input }),
    agent: () => startAgent(reins),
    logOf: (id) => readLog(reins, id),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** One for each way, for all tests of a file: each test has a session of its own. Call it at the top of the file. */
export function keepControls(): (way: Way) => Promise<Control> {
  const opened = new Map<Way, Promise<Control>>();
  afterAll(async () => {
    for (const control of opened.values()) await (await control)[Symbol.asyncDispose]();
  });
  return (way) => {
    const control = opened.get(way) ?? openControl(way);
    opened.set(way, control);
    return control;
  };
}

async function serve(reins: Reins, stack: AsyncDisposableStack): Promise<string> {
  // The host of this directory, and not one of the server's own environment.
  await reins.run(["ps", "-a"]);
  const { door } = stack.use(await openGatewayProcess({ dataDir: reins.home }));
  return door.url;
}

export async function startAgent(reins: Reins): Promise<string> {
  const { code, stderr } = await reins.run(["run", "team.yaml", "Begin."]);
  const id = /session (ses_\w{16});/.exec(stderr)?.[1];
  if (code !== 0 || id === undefined) throw new Error(`no agent: ${stderr}`);
  // The last that its first turn brings about.
  await waitForEvent(reins, id, ({ type }) => type === "session.title");
  return id;
}

export function readLog(reins: Reins, sessionId: string): string[] {
  const path = join(reins.home, "sessions", sessionId, "events", "0000000000000000");
  return readFileSync(path, "utf8").split("\n").slice(0, -1);
}

/** The lines that are events: what a worker answers to who asked it is none, nor is the line end after a crash. */
export function eventLines(lines: readonly string[]): string[] {
  return lines.filter((line) => line !== "" && JSON.parse(line).type !== "reply");
}

export async function waitForEvent(
  reins: Reins,
  sessionId: string,
  isIt: (event: Record<string, unknown>) => boolean,
): Promise<void> {
  await waitFor(
    "the event is in the log",
    () => readLog(reins, sessionId).some((line) => isIt(JSON.parse(line))),
    { timeout: LONG_MS },
  );
}
