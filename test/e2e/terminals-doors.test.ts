import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { type FaultCode, faults } from "#contract/faults.ts";
import { SessionId } from "#contract/ids.ts";
import type { Session } from "#contract/session.ts";
import { defined } from "#contract/values/defined.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTask, openTerminals } from "#test/harness/gateway/terminals.ts";
import type { Door } from "#test/harness/gateway.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { type McpClient, openHttpMcp } from "#test/harness/mcp.ts";
import { openReins, type Reins, type Running, succeed } from "#test/harness/reins.ts";
import { rows } from "#test/harness/repeats.ts";
import { refusalOf } from "#test/harness/socket.ts";
import { openTerminals as openScreens } from "#test/harness/terminal-screen.ts";

/** The same session by every way to it. */

/** What a way tells of an end. */
const Exit = z.object({
  exit_code: z.int().nullable(),
  signal: z.string().nullable().optional(),
  reason: z.string().optional(),
});
type End = z.infer<typeof Exit>;

/** Somebody who comes by one way and does everything by it. */
interface Way {
  /** Runs the program on a terminal. */
  open(workDir: string): Promise<SessionId>;
  write(id: SessionId, line: string): Promise<void>;
  /** All that was printed, and the offset behind it. */
  read(id: SessionId): Promise<{ readonly text: string; readonly end: number }>;
  wait(id: SessionId): Promise<End>;
  close(id: SessionId): Promise<End>;
  /** Whether this is how the way refuses with that code. */
  refuses(code: FaultCode, what: "read" | "close" | "wait", id: SessionId): Promise<void>;
  refusesToOpen(code: FaultCode, workDir: string): Promise<void>;
}

interface World extends AsyncDisposable {
  readonly reins: Reins;
  readonly door: Door;
  readonly mcp: McpClient;
  readonly program: string;
}

const PROGRAM = String.raw`#!/bin/sh
printf 'ready\n'
IFS= read -r line
printf 'got <%s> \303\244\342\202\254\n' "$line"
exit 7
`;
const UNKNOWN: SessionId = SessionId.parse("ses_0000000000000000");

async function openWorld(): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const reins = stack.use(await openReins());
  const program = join(reins.path, "program");
  writeFileSync(program, PROGRAM);
  chmodSync(program, 0o755);
  mkdirSync(reins.home, { mode: 0o700 });
  // Terminals of tasks run the configured shell and nothing else.
  writeFileSync(join(reins.home, "config.yaml"), `shell: ${program}\n`);
  const { door } = stack.use(await openGatewayProcess({ dataDir: reins.home }));
  const token = readFileSync(join(reins.home, "token"), "utf8").trim();
  const mcp = stack.use(await openHttpMcp({ url: door.url, token }));
  const owned = stack.move();
  return { reins, door, mcp, program, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function cliWay({ reins, program }: World): Way {
  const started = new Map<SessionId, Running>();
  return {
    open: async (workDir) => {
      const title = `cli ${randomUUID()}`;
      const args = ["run", "--tty", "--title", title, "--cwd", workDir, "--", program];
      const running = reins.start(args, { input: "pipe" });
      await running.says("ready");
      const found = (await reins.sessions()).find((session) => session.title === title);
      const id = SessionId.parse(found?.session_id);
      started.set(id, running);
      return id;
    },
    write: async (id, line) => void started.get(id)?.child.stdin?.write(`${line}\n`),
    read: async (id) => {
      const text = succeed(await reins.run(["logs", id]));
      return { text, end: (await reins.session(id)).tail };
    },
    wait: async (id) => {
      const { code } = await reins.run(["wait", id]);
      // Whoever started it hears the same.
      const running = started.get(id);
      if (running !== undefined) expect((await running.ended).code).toBe(code);
      return { exit_code: code };
    },
    close: async (id) => JSON.parse(succeed(await reins.run(["close", "--json", id]))).state,
    refuses: async (code, what, id) => {
      const command = { read: "logs", close: "close", wait: "wait" }[what];
      // A word that leads to no run is the same miss, whatever word it was.
      const said = code === "session_not_found" ? "run_not_found" : code;
      expect((await reins.run([command, id])).code).toBe(faults[said].exit);
    },
    refusesToOpen: async (code, workDir) => {
      const args = ["run", "--tty", "--cwd", workDir, "--", program];
      expect((await reins.run(args)).code).toBe(faults[code].exit);
    },
  };
}

function httpWay({ door, program }: World): Way {
  const create = (work_dir: string) =>
    door.call("session.create", { kind: "terminal", argv: [program], work_dir });
  const routes = { read: "GET output", close: "DELETE", wait: "POST wait" };
  return {
    open: async (workDir) => (await create(workDir)).body.session_id,
    write: async (session_id, line) => {
      await door.get("session.input", { session_id, data: `${line}\n` });
    },
    read: async (id) => {
      const response = await door.fetch(`/v1/sessions/${id}/output?since=0`);
      const text = Buffer.from(await response.arrayBuffer()).toString("utf8");
      return { text, end: Number(response.headers.get("X-Reins-Next")) };
    },
    wait: async (session_id) =>
      endOf(await door.get("session.wait", { session_id, for: "exit", timeout_ms: 30_000 })),
    close: async (session_id) => endOf(await door.get("session.close", { session_id })),
    refuses: async (code, what, id) => {
      const [method = "", tail = ""] = routes[what].split(" ");
      const body = method === "POST" ? { body: '{"for":"exit","timeout_ms":0}' } : {};
      const headers = { "Content-Type": "application/json" };
      const response = await door.fetch(`/v1/sessions/${id}${tail && `/${tail}`}`, {
        method,
        headers,
        ...body,
      });
      expect(response.status).toBe(faults[code].status);
      expect(await response.json()).toMatchObject({ error: { code } });
    },
    refusesToOpen: async (code, workDir) => {
      const { status, body } = await create(workDir);
      expect([status, body.error?.code]).toEqual([faults[code].status, code]);
    },
  };
}

function endOf({ state }: Pick<Session, "state">): End {
  if (state.kind !== "exited") throw new Error(`it is ${state.kind}`);
  return state;
}

function socketWay({ door }: World): Way {
  return {
    open: async (work_dir) => {
      using task = await openTask(door, { work_dir });
      const client = await openTerminals(door);
      const session_id = await client.open(task);
      await client[Symbol.asyncDispose]();
      // Whoever opens holds control until the server has seen that the socket is gone.
      const get = () => door.get("session.get", { session_id });
      await waitFor("control is free", async () => (await get()).controller === null);
      return session_id;
    },
    write: async (id, data) => {
      await using socket = await door.attach(id, "?role=controller");
      const answer = await socket.ask({ type: "stdin", data: `${data}\n`, id: "1" });
      expect(answer).toMatchObject({ type: "ack" });
    },
    read: async (id) => {
      await using socket = await door.attach(id, "?since=0");
      const { tail } = await socket.frame("connected");
      const bytes = await waitFor("all of it", () => {
        const output = socket.output();
        return output.length >= Number(tail) && output;
      });
      return { text: bytes.toString("utf8"), end: bytes.length };
    },
    wait: async (id) => {
      await using socket = await door.attach(id, "?since=tail");
      return Exit.parse(await socket.frame("exit"));
    },
    close: async (session_id) => {
      await using client = await openTerminals(door);
      await client.attach(session_id, 0);
      client.send("terminal.close", { session_id });
      const { exit_code, signal, reason } = await client.exit(session_id);
      return { exit_code, signal, reason };
    },
    refuses: async (code, what, id) => {
      const { status, body } = await refusalOf(door.attach(id));
      expect([status, body.error?.code]).toEqual([faults[code].status, code]);
      await using client = await openTerminals(door);
      const frame = what === "close" ? "terminal.close" : "terminal.attach";
      const error = await client.sessionRefusal(frame, {
        session_id: id,
        ...(what === "close" ? {} : { request_id: "r" }),
      });
      expect(error.code).toBe(code);
    },
    refusesToOpen: async (code, work_dir) => {
      using task = await openTask(door, { work_dir });
      const { task_id, workspace_id } = task;
      await using client = await openTerminals(door);
      expect((await client.refusal("terminal.open", { task_id, workspace_id })).code).toBe(code);
    },
  };
}

function mcpWay({ mcp, program }: World): Way {
  const tools = { read: "session_read", close: "terminal_close", wait: "session_wait" } as const;
  return {
    open: async (workdir) =>
      (await mcp.call("terminal_open", { command: program, workdir })).terminal_id,
    write: async (session_id, text) => {
      await mcp.call("session_send", { session_id, text, enter: true });
    },
    read: async (session_id) => {
      const { output, next_offset } = await mcp.call("session_read", { session_id });
      // A model reads lines; where they end on a terminal is nothing to it.
      return { text: output.replaceAll("\n", "\r\n"), end: next_offset };
    },
    wait: async (session_id) =>
      endOf(await mcp.call("session_wait", { session_id, for: "exit", timeout: "30s" })),
    close: async (id) => endOf(await mcp.call("terminal_close", { terminal_id: id })),
    refuses: async (code, what, id) => {
      const input = what === "close" ? { terminal_id: id } : { session_id: id };
      const more = what === "wait" ? { for: "exit" } : {};
      const said = await mcp.refused(tools[what], { ...input, ...more });
      expect(said).toMatch(new RegExp(`^${code}: `));
    },
    refusesToOpen: async (code, workdir) => {
      const said = await mcp.refused("terminal_open", { command: program, workdir });
      expect(said).toMatch(new RegExp(`^${code}: `));
    },
  };
}

const openWays = (world: World): Readonly<Record<string, Way>> => ({
  cli: cliWay(world),
  HTTP: httpWay(world),
  WebSocket: socketWay(world),
  MCP: mcpWay(world),
});
const names = ["cli", "HTTP", "WebSocket", "MCP"];
const PRINTED = "ready\r\nhi\r\ngot <hi> ä€\r\n";

/** One for all tests. */
let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => await world[Symbol.asyncDispose]());

describe("a bad request", () => {
  // Before anything is opened.
  test.each(names)("%s refuses by the same codes", async (name) => {
    const way = openWays(world)[name];
    for (const what of ["read", "wait", "close"] as const)
      await way?.refuses("session_not_found", what, UNKNOWN);
    await way?.refusesToOpen("spawn_failed", join(world.reins.path, "gone"));
    expect((await world.door.get("session.list", {})).sessions).toEqual([]);
  });
});

test.each(names)(
  "what is opened and written by %s is read, waited for and closed alike by every way",
  async (name) => {
    const { door, reins } = world;
    const ways = openWays(world);
    const way = ways[name];
    if (way === undefined) throw new Error(name);
    const session_id = await way.open(reins.path);
    const ready = { session_id, for: "text", text: "ready", timeout_ms: 30_000 } as const;
    await door.get("session.wait", ready);
    await way.write(session_id, "hi");
    const exited = { exit_code: 7, signal: null, reason: "exited" };
    for (const [by, other] of Object.entries(ways)) {
      const end = await other.wait(session_id);
      // The cli has an exit code alone.
      expect({ by, ...exited, ...pick(end) }).toEqual({ by, ...exited });
      const read = await other.read(session_id);
      expect({ by, ...read }).toEqual({ by, text: PRINTED, end: Buffer.byteLength(PRINTED) });
    }
    // One that still runs is closed by each, and whoever comes later hears of the same end.
    const closed = { exit_code: 129, signal: "SIGHUP", reason: "user_requested" };
    const full = Object.entries(ways);
    // In `npm test` each way closes what one other way has opened.
    const next = (names.indexOf(name) + 1) % names.length;
    for (const [by, other] of rows({ few: full.slice(next, next + 1), full })) {
      const open = await way.open(reins.path);
      expect({ by, ...pick(await other.close(open)) }).toEqual({ by, ...closed });
      for (const after of Object.values(ways))
        expect(pick(await after.close(open))).toEqual(closed);
    }
    const { sessions } = await door.get("session.list", {});
    const listed = (await reins.sessions()).map((session) => session.session_id);
    const seen = (await world.mcp.call("session_list", {})).sessions;
    const ids = sessions.map((session) => session.session_id);
    expect(ids).toContain(session_id);
    expect(listed.toSorted()).toEqual(ids.toSorted());
    expect(seen.map((session) => session.session_id).toSorted()).toEqual(ids.toSorted());
  },
);

function pick({ exit_code, signal, reason }: End): End {
  const more = { ...defined({ signal }), ...(reason && { reason }) };
  return { exit_code, ...more };
}

test("reins attach to what HTTP has opened leaves it alive and the terminal as it was, and passes its code", async () => {
  const { reins, door } = world;
  using terminals = openScreens(reins);
  const pane = await terminals.open();
  const argv = ["env", "PS1=in$ ", "bash", "--norc", "--noprofile", "-i"];
  const { session_id } = await door.get("session.create", { kind: "terminal", argv });
  pane.enter('before=$(stty -g); same() { [ "$(stty -g)" = "$before" ] && echo "code $1, same"; }');
  const attach = `clear; reins attach ${session_id}; same $?`;
  pane.enter(attach);
  await pane.prompts("in$");
  pane.press("C-\\", "d");
  await pane.shows("code 0, same");
  const left = await waitFor("nobody is attached", async () => {
    const session = await door.get("session.get", { session_id });
    return session.viewers === 0 && session;
  });
  expect(left.state).toEqual({ kind: "running" });
  pane.enter(attach);
  await pane.prompts("in$");
  await door.get("session.input", { session_id, data: "exit 9\n", takeover: true });
  await pane.shows("code 9, same");
});
