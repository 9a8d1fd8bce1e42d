import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientFrameTypes } from "#contract/frames.ts";
import type { OperationSpec } from "#contract/operations/operation-spec.ts";
import { type OperationName, operations } from "#contract/operations.ts";
import { terminalClientFrameTypes } from "#contract/terminal-frames.ts";
import { isAtLeast } from "#contract/token.ts";
import { sendPlain } from "#test/harness/access-http.ts";
import {
  ask,
  codeOf,
  createPlace,
  createWorld,
  nowhere,
  type Place,
  roles,
  type World,
  withoutNames,
} from "#test/harness/access-world.ts";
import { waitFor } from "#test/harness/eventually.ts";
import {
  type Door,
  describeRequest,
  openTestGateway,
  type TestGateway,
} from "#test/harness/gateway.ts";
import { rows as someRows } from "#test/harness/repeats.ts";
import type { Frame } from "#test/harness/socket.ts";

/** Two workspaces, three roles: who may do what, and that a foreign thing looks like one that does not exist. */

let gateway: TestGateway;
let world: World;
beforeAll(async () => {
  gateway = await openTestGateway();
  world = await createWorld(gateway);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
});

test("a caller that sees some workspaces gets no counts of all of them", async () => {
  const counted = ["sessions", "live", "memory_bytes", "errors", "log_faults"];
  const { body: all } = await gateway.call("server.health", {});
  expect(Object.keys(all.host ?? {})).toEqual(expect.arrayContaining(counted));
  const { body: some } = await world.ofA.viewer.call("server.health", {});
  expect(some).toMatchObject({ status: "ok", store: { ok: true }, host: { ok: true } });
  expect(Object.keys(some.host ?? {}).filter((name) => counted.includes(name))).toEqual([]);
  const countsOf = async (door: Door) =>
    (await (await door.fetch("/metrics")).text()).match(
      /^reins_(?:requests|sessions |sess.*live |hosts)/gm,
    );
  expect(await countsOf(gateway)).not.toBeNull();
  expect(await countsOf(world.ofA.viewer)).toBeNull();
});

interface Row {
  readonly input: (place: Place) => Readonly<Record<string, unknown>>;
  /** What is said of a place that the caller may not see; absent when the operation names none. */
  readonly missing?: string;
  /** Of a success; absent = what the table says. */
  readonly status?: number;
  /** Only who sees every workspace may. */
  readonly everywhere?: boolean;
}

const nothing = (): Readonly<Record<string, unknown>> => ({});
const bySession =
  (more: object = {}) =>
  ({ session_id }: Place) => ({ session_id, ...more });
const session = (more: object = {}): Row[] => [
  { input: bySession(more), missing: "session_not_found" },
];
const inWorkspace = (more: object = {}): Row => ({
  input: ({ workspace_id }) => ({ workspace_id, ...more }),
  missing: "workspace_not_found",
});
const free = (more: Partial<Row> = {}): Row => ({ input: nothing, ...more });
const task = (more: object = {}): Row[] => [
  { input: ({ task_id }) => ({ task_id, ...more }), missing: "task_not_found" },
];
const shell = (more: object = {}): Row[] => [
  { input: ({ shell_id }) => ({ shell_id, ...more }), missing: "shell_not_found" },
];
const process = (more: object = {}): Row[] => [
  {
    input: ({ session_id }) => ({ process_id: session_id, ...more }),
    missing: "process_not_found",
  },
];
/** The place's session is a terminal, so who may ask an agent hears that it is none. */
const agent = (more: object = {}): Row[] => [
  { input: bySession(more), missing: "session_not_found", status: 501 },
];
const source = { kind: "inline", yaml: "agents: { root: { model: scripted/echo } }" };
const messages = [{ content: "hello" }];
const command = { kind: "command", command: "true" };

/** Every operation has its rows; one that is added to the table of operations fails here until it has. */
const rows: Readonly<Record<OperationName, readonly Row[]>> = {
  "session.create": [
    inWorkspace(command),
    { input: ({ task_id }) => ({ ...command, task_id }), missing: "task_not_found" },
    {
      input: ({ session_id }) => ({ ...command, parent_session_id: session_id }),
      missing: "session_not_found",
    },
  ],
  "session.list": [free(), inWorkspace()],
  "session.glances": [{ input: ({ session_id }) => ({ session_ids: [session_id] }) }],
  "session.get": session(),
  "session.update": session({ title: "another" }),
  "session.close": session(),
  "session.input": [...session({ data: "x" }), ...session({ data: "x", takeover: true })],
  "session.resize": session({ cols: 100, rows: 30 }),
  "session.signal": session({ signal: "SIGCONT" }),
  "session.interrupt": session(),
  "session.output": session(),
  "session.events": [...session({ follow: false }), ...session({ follow: false, since: 0 })],
  "session.screen": session(),
  "session.wait": session({ for: "exit", timeout_ms: 0 }),
  "session.export": session(),
  "session.attach": [{ input: bySession(), missing: "session_not_found", status: 101 }],
  "terminal.attach": [free({ status: 101 })],
  "sessions.watch": [free()],
  "shell.create": [inWorkspace({ work_dir: "/" })],
  "shell.list": [free(), inWorkspace()],
  "shell.get": shell(),
  "shell.close": shell(),
  "shell.run": shell({ command: "true" }),
  "process.execute": [{ input: () => ({ command: "true", workdir: "/" }) }],
  "process.list": [free()],
  "process.output": process(),
  "process.wait": process({ timeout: 0 }),
  "process.signal": process({ signal: "terminate" }),
  "process.input": process({ text: "x" }),
  "team.load": [{ input: () => ({ source }), status: 200 }],
  "team.list": [free()],
  "agent.create": [
    {
      input: ({ session_id }) => ({ resume_session_id: session_id }),
      missing: "session_not_found",
      status: 501,
    },
  ],
  "agent.run": agent({ messages }),
  "agent.send": agent({ messages }),
  "agent.steer": agent({ messages }),
  "agent.followup": agent({ messages }),
  "agent.resume": agent({ approval_id: "a", decision: "approve" }),
  "agent.elicitation": agent({ elicitation_id: "e", action: "cancel" }),
  "agent.summarize": agent(),
  "agent.fork": agent({ at: 0 }),
  "agent.switch": agent({ name: "a" }),
  "agent.model": agent({ model: "" }),
  "agent.permit": agent({ safety: "strict" }),
  "agent.snapshot": agent(),
  "agent.transcript": agent(),
  "agent.queue": agent(),
  "agent.permissions": agent(),
  "agent.team": agent(),
  "agent.tools": agent(),
  "agent.toolsets": agent(),
  "agent.restart_toolset": agent({ name: "t" }),
  "agent.models": agent(),
  "agent.prompts": agent(),
  "agent.prompt": agent({ name: "p" }),
  "agent.skills": agent(),
  "workspace.create": [{ input: () => ({ name: "one more" }), everywhere: true }],
  "workspace.list": [free()],
  "workspace.get": [inWorkspace()],
  "workspace.update": [inWorkspace({ name: "another" })],
  // Things are in it, so it stays; that is told to who may see it alone.
  "workspace.delete": [{ ...inWorkspace(), status: 409 }],
  "task.create": [inWorkspace({ work_dir: "/" })],
  "task.list": [free(), inWorkspace()],
  "task.get": task(),
  "task.update": task({ title: "another" }),
  "task.delete": task(),
  "directory.list": [{ input: () => ({ path: "/" }) }],
  "caller.get": [free()],
  "caller.logout": [free()],
  "token.create": [
    {
      input: ({ workspace_id }) => ({ user_id: "u", role: "viewer", workspaces: [workspace_id] }),
      missing: "workspace_not_found",
    },
  ],
  "token.list": [free()],
  "token.revoke": [{ input: ({ token_id }) => ({ token_id }), missing: "token_not_found" }],
  "ticket.create": [free({ status: 201 })],
  "ticket.exchange": [],
  "audit.list": [free(), inWorkspace()],
  "server.health": [free()],
  "server.limits": [free()],
  "server.openapi": [free()],
  "server.metrics": [free()],
};

// The keys of both tables are the same: the type of `rows` says so.
const names = Object.keys(operations) as OperationName[];
const specOf = (name: OperationName): OperationSpec => operations[name];
const mayAsk = (role: (typeof roles)[number], name: OperationName) => {
  const needed = specOf(name).role;
  return needed === "anyone" || isAtLeast(role, needed);
};

/** The roles on either side of the limit; all of them in the full run. */
const rolesFor = (name: OperationName) =>
  someRows({
    few: [
      ...roles.filter((role) => !mayAsk(role, name)).slice(-1),
      ...roles.filter((role) => mayAsk(role, name)).slice(0, 1),
    ],
    full: roles,
  });

const statusOf = (name: OperationName, row: Row) => row.status ?? specOf(name).status ?? 200;

let unharmed: Place | undefined;

/** A place of the first workspace: a new one for a request that may change it, else the one that others only read. */
async function findPlace(name: OperationName, row: Row, isAllowed: boolean): Promise<Place> {
  const changes = !specOf(name).http.startsWith("GET ") && statusOf(name, row) < 400;
  if (isAllowed && changes) return await createPlace(gateway, world.a.workspace_id);
  unharmed ??= await createPlace(gateway, world.a.workspace_id);
  return unharmed;
}

describe.each(names)("%s", (name) => {
  test("has a row for each way to name something", () => {
    expect(rows[name].length > 0 || name === "ticket.exchange").toBe(true);
  });

  test("asks for a token unless it is for anyone", async () => {
    const index = names.indexOf(name);
    const { path, init } = describeRequest(name, { ...rows[name][0]?.input(world.a) });
    // Each from an address of its own: too many from one are asked to wait.
    const answer = await sendPlain(gateway.url, {
      path,
      method: init.method ?? "GET",
      from: `127.0.1.${index + 1}`,
    });
    if (specOf(name).role === "anyone") expect(answer.status).not.toBe(401);
    else {
      expect([answer.status, codeOf(answer)]).toEqual([401, "unauthenticated"]);
      expect(answer.headers["www-authenticate"]).toBe("Bearer");
    }
  });

  test("is for who has the role", async () => {
    for (const row of rows[name]) {
      const expected = statusOf(name, row);
      for (const role of rolesFor(name)) {
        const own = await findPlace(name, row, mayAsk(role, name));
        const said = await ask(world.ofA[role], name, row.input(own));
        if (mayAsk(role, name) && row.everywhere !== true)
          expect([role, said.status, said.text]).toEqual([role, expected, said.text]);
        else expect([role, said.status, codeOf(said)]).toEqual([role, 403, "forbidden"]);
      }
      const own = await findPlace(name, row, true);
      const said = await ask(gateway, name, row.input(own));
      expect([said.status, said.text]).toEqual([expected, said.text]);
    }
  });

  test("a foreign id is answered exactly like an unknown one", async () => {
    for (const row of rows[name].filter(({ missing }) => missing !== undefined)) {
      const callers: [string, Door, Place][] = [
        ...rolesFor(name).map((role): [string, Door, Place] => [role, world.ofA[role], world.b]),
        ["admin of the other", world.ofB.admin, world.a],
      ];
      for (const [who, door, foreign] of callers) {
        const told = await ask(door, name, row.input(foreign));
        const unknown = await ask(door, name, row.input(nowhere));
        expect([who, withoutNames(told, foreign)]).toEqual([who, withoutNames(unknown, nowhere)]);
        const isAllowed = who === "admin of the other" || mayAsk(who as "viewer", name);
        expect([who, codeOf(told)]).toEqual([who, isAllowed ? row.missing : "forbidden"]);
      }
    }
  });
});

test("what was asked for by strangers is unharmed", async () => {
  for (const place of [world.a, world.b]) {
    const { session_id, task_id, shell_id, workspace_id } = place as never;
    const found = await gateway.get("session.get", { session_id });
    expect(found).toMatchObject({ state: { kind: "running" }, cols: 80, rows: 24, tail: 0 });
    expect(found.title).not.toBe("another");
    expect(await gateway.get("task.get", { task_id })).toMatchObject({ work_dir: "/" });
    expect(await gateway.get("shell.get", { shell_id })).toMatchObject({ last_run_at: null });
    const workspace = await gateway.get("workspace.get", { workspace_id });
    expect(workspace.name).toBe(place === world.b ? "a place" : "another");
    const { tokens } = await gateway.get("token.list", { limit: 1000 });
    expect(tokens.map(({ token_id }) => String(token_id))).toContain(place.token_id);
  }
});

describe("lists", () => {
  const lists = [
    "session.list",
    "shell.list",
    "task.list",
    "audit.list",
    "token.list",
    "workspace.list",
  ] as const satisfies readonly OperationName[];

  test.each(lists)("%s holds nothing of another workspace, on no page", async (name) => {
    for (const role of roles.filter((role) => mayAsk(role, name))) {
      let [pages, cursor]: [string, string | null] = ["", null];
      do {
        const more = cursor === null ? {} : { cursor };
        const { text } = await ask(world.ofA[role], name, { limit: 7, ...more });
        pages += text;
        cursor = (JSON.parse(text) as { cursor: string | null }).cursor;
      } while (cursor !== null);
      expect(pages).toContain(world.a.workspace_id);
      for (const id of Object.values(world.b)) expect(pages).not.toContain(id);
    }
  });

  test("filters that name something foreign find what they find for something unknown", async () => {
    const filters = [
      (place: Place) => ({ task_id: place.task_id }),
      (place: Place) => ({ parent_session_id: place.session_id }),
      (place: Place) => ({ q: place.session_id }),
    ];
    for (const filter of filters) {
      const told = await ask(world.ofA.viewer, "session.list", filter(world.b));
      const unknown = await ask(world.ofA.viewer, "session.list", filter(nowhere));
      expect(told).toEqual(unknown);
      expect(JSON.parse(told.text)).toEqual({ sessions: [], cursor: null });
    }
    const foreign = await ask(world.ofA.admin, "audit.list", { target_id: world.b.session_id });
    expect(JSON.parse(foreign.text)).toEqual({ entries: [], cursor: null });
  });

  test("/v1/events tells of no session of another workspace", async () => {
    const response = await world.ofA.viewer.fetch("/v1/events");
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let heard = "";
    const hear = async (what: string) => {
      while (!heard.includes(what)) heard += (await reader?.read())?.value ?? "";
    };
    await hear("ready");
    const foreign = await createPlace(gateway, world.b.workspace_id);
    const close = { session_id: foreign.session_id as never };
    await gateway.get("session.close", { ...close, purge: true });
    const own = await createPlace(gateway, world.a.workspace_id);
    await hear(own.session_id);
    expect(heard).not.toContain(foreign.session_id);
    expect(heard).not.toContain(world.b.workspace_id);
    await reader?.cancel();
  });
});

test("the wrong workspace is named as such only to who sees both", async () => {
  const { a, b, ofA, ofBoth } = world;
  const mixed = { ...command, task_id: a.task_id, workspace_id: b.workspace_id };
  for (const door of [ofBoth, gateway]) {
    const said = await ask(door, "session.create", mixed);
    expect([said.status, codeOf(said)]).toEqual([403, "workspace_mismatch"]);
  }
  const told = await ask(ofA.admin, "session.create", mixed);
  const unknown = await ask(ofA.admin, "session.create", {
    ...mixed,
    workspace_id: nowhere.workspace_id,
  });
  expect(withoutNames(told, b)).toEqual(withoutNames(unknown, nowhere));
  expect(codeOf(told)).toBe("workspace_not_found");
  const other = await ask(ofA.admin, "session.create", { ...mixed, task_id: b.task_id });
  expect(codeOf(other)).toBe("task_not_found");
});

test("two callers who choose the same idempotency key never meet each other's session", async () => {
  const request = { ...command, idempotency_key: "the same" };
  const made = await Promise.all(
    [world.ofA.operator, world.ofA.admin, world.ofB.operator].map(async (door) => {
      const first = JSON.parse((await ask(door, "session.create", request)).text);
      const again = JSON.parse((await ask(door, "session.create", request)).text);
      expect(again.session_id).toBe(first.session_id);
      return first.session_id as string;
    }),
  );
  expect(new Set(made).size).toBe(3);
});

describe("frames of an attached client", () => {
  type FrameType = (typeof clientFrameTypes)[number];
  /** What each is answered with: by a viewer's token, and by an operator who holds control. */
  const frames: Readonly<Record<FrameType, { body: object; viewer: string; holder: string }>> = {
    stdin: { body: { data: "x" }, viewer: "not_controller", holder: "ack" },
    resize: { body: { cols: 90, rows: 20 }, viewer: "not_controller", holder: "ack" },
    signal: { body: { signal: "SIGCONT" }, viewer: "not_controller", holder: "ack" },
    control: { body: { action: "take" }, viewer: "forbidden", holder: "ack" },
    close: { body: {}, viewer: "forbidden", holder: "ack" },
    eof: { body: {}, viewer: "not_controller", holder: "ack" },
    ping: { body: {}, viewer: "pong", holder: "pong" },
  };

  test("every type has a row", () => {
    expect(Object.keys(frames).toSorted()).toEqual([...clientFrameTypes].toSorted());
  });

  test.each(clientFrameTypes)("%s", async (type) => {
    const { body, viewer, holder } = frames[type];
    const said = ({ type: kind, code }: Frame) => (kind === "error" ? code : kind);
    const few = [
      [world.ofA.viewer, "", viewer],
      [world.ofA.operator, "?role=controller", holder],
    ] as const;
    const full = [...few, [world.ofA.admin, "?role=controller", holder]] as const;
    for (const [door, query, expected] of someRows({ few, full })) {
      const { session_id } = await gateway.get("session.create", {
        ...{ kind: "terminal", argv: ["/bin/cat"] },
        workspace_id: world.a.workspace_id as never,
      });
      await using socket = await door.attach(session_id, query);
      expect(said(await socket.ask({ type, id: "1", ...body }))).toBe(expected);
    }
  });

  test("control is not for a viewer's token, whatever it asks for", async () => {
    for (const query of ["role=controller", "role=controller&takeover=1"]) {
      const path = { session_id: world.a.session_id };
      const fields = Object.fromEntries(new URLSearchParams(query));
      const said = await ask(world.ofA.viewer, "session.attach", { ...path, ...fields });
      expect([said.status, codeOf(said)]).toEqual([403, "forbidden"]);
    }
  });
});

describe("frames for terminals", () => {
  type FrameType = (typeof terminalClientFrameTypes)[number];
  const payloads: Readonly<Record<FrameType, (place: Place) => object>> = {
    "terminal.open": ({ task_id, workspace_id }) => ({ request_id: "r", task_id, workspace_id }),
    "terminal.attach": ({ session_id }) => ({ request_id: "r", session_id }),
    "terminal.data": ({ session_id }) => ({ session_id, data_b64: "eA==" }),
    "terminal.resize": ({ session_id }) => ({ session_id, cols: 90, rows: 20 }),
    "terminal.close": ({ session_id }) => ({ session_id }),
  };

  const answerTo = async (door: Door, frame: { type: string; payload: object }) => {
    await using socket = await door.socket("/v1/terminals/ws");
    socket.send(frame);
    const first = await waitFor(`an answer to ${frame.type}`, () => socket.frames[0]);
    return { status: 0, text: JSON.stringify(first) };
  };

  test("every type has a row", () => {
    expect(Object.keys(payloads).toSorted()).toEqual([...terminalClientFrameTypes].toSorted());
  });

  test.each(terminalClientFrameTypes)("%s says the same of foreign and unknown", async (type) => {
    const payload = payloads[type];
    for (const role of roles) {
      const told = await answerTo(world.ofA[role], { type, payload: payload(world.b) });
      const unknown = await answerTo(world.ofA[role], { type, payload: payload(nowhere) });
      expect(withoutNames(told, world.b)).toEqual(withoutNames(unknown, nowhere));
      const isForbidden = role === "viewer" && type === "terminal.open";
      const missing = type === "terminal.open" ? "task_not_found" : "session_not_found";
      expect(told.text).toContain(isForbidden ? "forbidden" : missing);
    }
  });

  test("a task of ours in a workspace that is not says nothing of that workspace", async () => {
    const mixed = (workspace_id: string) => ({
      type: "terminal.open",
      payload: { request_id: "r", task_id: world.a.task_id, workspace_id },
    });
    const told = await answerTo(world.ofA.admin, mixed(world.b.workspace_id));
    const unknown = await answerTo(world.ofA.admin, mixed(nowhere.workspace_id));
    expect(withoutNames(told, world.b)).toEqual(withoutNames(unknown, nowhere));
    expect(told.text).toContain("terminal.error");
    const both = await answerTo(world.ofBoth, mixed(world.b.workspace_id));
    expect(both.text).toContain("workspace_mismatch");
  });

  test("a viewer's token watches and changes nothing", async () => {
    const { session_id } = await createPlace(gateway, world.a.workspace_id);
    await using socket = await world.ofA.viewer.socket("/v1/terminals/ws");
    socket.send({ type: "terminal.attach", payload: { request_id: "r", session_id } });
    expect(await socket.frame("terminal.attached")).toMatchObject({ payload: { role: "viewer" } });
    for (const type of ["terminal.data", "terminal.resize", "terminal.close"] as const) {
      const before = socket.all("terminal.error").length;
      socket.send({ type, payload: payloads[type]({ ...world.a, session_id }) });
      await waitFor("an error", () => socket.all("terminal.error").length > before);
      expect(socket.all("terminal.error").at(-1)).toMatchObject({
        payload: { code: "not_controller" },
      });
    }
    const found = await gateway.get("session.get", { session_id: session_id as never });
    expect(found).toMatchObject({ cols: 80, rows: 24, tail: 0, state: { kind: "running" } });
  });

  test("nobody opens in the name of another but an administrator", async () => {
    const open = { ...payloads["terminal.open"](world.a), user_id: "another" };
    const refused = await answerTo(world.ofA.operator, { type: "terminal.open", payload: open });
    expect(refused.text).toContain("forbidden");
    const opened = await answerTo(world.ofA.admin, { type: "terminal.open", payload: open });
    expect(opened.text).toContain("terminal.opened");
  });
});
