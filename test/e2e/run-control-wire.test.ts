import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { createClient } from "#client/client.ts";
import { openRemoteBackend } from "#client/runtime.ts";
import { type SseEvent, SseParser } from "#client/sse.ts";
import { limits } from "#contract/limits.ts";
import { AgentCreate, type AnyEvent, agentOperations } from "#contract/operations/agent.ts";
import type { OperationName, StreamItem } from "#contract/operations.ts";
import type { Runtime, RuntimeBackend } from "#contract/runtime/runtime.ts";
import { eventStream } from "#http/sse.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { describeRequest, openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { collect, eventsOf, inline, nextEvent, say, scripted } from "#test/harness/runtimes.ts";

/** What the wire owes to its clients: statuses, bodies that are checked, and streams that last. */

/**
 * Where requests that come in slowly are cut after this; streams that go out are not. Headers have half of it, also
 * when a busy machine makes a client slow.
 */
const REQUEST_MS = 2000;
const BIG = "x".repeat(200_000);

const TEAM = scripted(
  [
    { when: { last_user_contains: "Go." }, delay_ms: 600_000, text: "Never." },
    { when: { last_user_contains: "long" }, deltas: Array(20).fill("word "), every_ms: 160 },
    { when: { last_user_contains: "slowly" }, deltas: Array(20).fill("word "), every_ms: 60 },
    { when: { last_user_contains: "much" }, text: BIG },
    {
      when: { last_user_contains: "write", last_role: "user" },
      tool_calls: [{ tool: "write_file", input: { path: "x", content: "x" } }],
    },
    { text: "Yes.", repeat: true },
  ],
  { toolsets: [{ type: "filesystem" }], handoffs: ["other"] },
);
const team = JSON.parse(TEAM);
team.agents.other = { model: "scripted/echo", description: "Repeats.", instruction: "Repeat." };
const YAML = JSON.stringify(team);

let gateway: TestGateway;
let backend: RuntimeBackend;
beforeAll(async () => {
  gateway = await openTestGateway();
  backend = openRemoteBackend(createClient({ url: gateway.url, token: gateway.token }));
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
});

const create = (): Promise<Runtime> =>
  backend.create({ source: inline(YAML), working_dir: gateway.host.dataDir });

/** One session for the tests that claim nothing about a new one: a worker costs more than most of them. */
let kept: Promise<Runtime> | undefined;
function keep(): Promise<Runtime> {
  kept ??= create();
  return kept;
}

const tailOf = async (runtime: Runtime) => (await runtime.snapshot()).events_tail;

/** The status and the code of a refusal. */
async function post(path: string, body: unknown): Promise<readonly [number, string | undefined]> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const answer = await send(path, text);
  const { error } = JSON.parse(await answer.text());
  return [answer.status, error?.code];
}

const send = (path: string, body: string, method = "POST") =>
  gateway.fetch(path, { method, body, headers: { "Content-Type": "application/json" } });

async function startTurn(runtime: Runtime, text: string): Promise<void> {
  await runtime.send(say(text));
}

/** Frames of a body until it ends or enough were seen. */
async function readEvents(
  answer: Response,
  isEnough: (event: SseEvent) => boolean = () => false,
): Promise<SseEvent[]> {
  const parser = new SseParser();
  const events: SseEvent[] = [];
  for await (const chunk of answer.body ?? []) {
    for (const event of parser.push(chunk)) {
      events.push(event);
      if (isEnough(event)) return events;
    }
  }
  return events;
}

const typeOf = ({ data }: SseEvent): string => JSON.parse(data).type;

describe("an unsupported request", () => {
  test("is 501 over HTTP and the same fault in the client, also when the worker refuses it", async () => {
    const { session_id } = await gateway.host.create({ command: "true" });
    for (const view of ["snapshot", "tools", "toolsets", "models", "prompts", "skills", "queue"]) {
      const answer = await gateway.fetch(`/v1/sessions/${session_id}/${view}`);
      const { error } = JSON.parse(await answer.text());
      expect([view, answer.status, error.code]).toEqual([view, 501, "unsupported"]);
    }
    for (const route of ["messages", "steer", "followup"])
      expect(await post(`/v1/sessions/${session_id}/${route}`, { messages: say("x") })).toEqual([
        501,
        "unsupported",
      ]);
    expect(await post(`/v1/sessions/${session_id}/summarize`, {})).toEqual([501, "unsupported"]);
    const runtime = await keep();
    expect(
      await post(`/v1/sessions/${runtime.session_id}/toolsets/filesystem/restart`, {}),
    ).toEqual([501, "unsupported"]);
    await expect(runtime.restartToolset("filesystem")).rejects.toMatchObject({
      code: "unsupported",
    });
    await expect(backend.open(session_id)).rejects.toMatchObject({ code: "unsupported" });
  });
});

describe("request bodies", () => {
  /** Enough of each for the rest of it to be looked at. */
  const bodies: Partial<Record<OperationName, Record<string, unknown>>> = {
    "team.load": { source: inline(YAML) },
    "agent.create": { source: inline(YAML) },
    "agent.run": { messages: say("x") },
    "agent.send": { messages: say("x") },
    "agent.steer": { messages: say("x") },
    "agent.followup": { messages: say("x") },
    "agent.resume": { approval_id: "a", decision: "approve" },
    "agent.elicitation": { elicitation_id: "e", action: "accept" },
    "agent.summarize": {},
    "agent.fork": { at: 0 },
    "agent.switch": { name: "root" },
    "agent.model": { model: "main" },
    "agent.permit": {},
    "agent.restart_toolset": { name: "filesystem" },
    "agent.prompt": { name: "x" },
  };
  const rows = Object.entries(agentOperations).filter(([, { http }]) => !http.startsWith("GET"));

  test("an unknown field, invalid JSON and a value that is not an object are 400 on every route, without effect", async () => {
    const runtime = await keep();
    const { session_id } = runtime;
    const { events_tail } = await runtime.snapshot();
    for (const [name] of rows) {
      // The names of the table.
      const operation = name as OperationName;
      const own = operation === "team.load" || operation === "agent.create" ? {} : { session_id };
      const body = bodies[operation];
      if (body === undefined) throw new Error(`${name} has no body here`);
      const { path, init } = describeRequest(operation, { ...own, ...body, surprise: 1 });
      for (const text of [String(init.body), "{", "[]", "null", '"text"']) {
        const answer = await send(path, text, init.method);
        const { error } = JSON.parse(await answer.text());
        expect([name, text, answer.status, error?.code]).toEqual([
          name,
          text,
          400,
          "invalid_request",
        ]);
        if (text.includes("surprise")) expect(error.message).toContain("surprise");
      }
    }
    expect((await runtime.snapshot()).events_tail).toBe(events_tail);
  });

  test("an empty request is {}, and every field survives JSON unchanged", () => {
    expect(JSON.stringify(AgentCreate.parse({}))).toBe("{}");
    const whole: AgentCreate = AgentCreate.parse({
      source: { kind: "path", path: "/team.yaml" },
      agent_name: "root",
      working_dir: "/tmp",
      resume_session_id: "ses_0000000000000000",
      permissions: { allow: ["a"], ask: ["b"], deny: ["c:d=e/f:*"] },
      safety: "strict",
      limits: { max_cost: 1.5, max_tokens: 10, max_time_ms: 1000 },
      model_overrides: { "*": "openai/gpt-4o" },
      prompt_files: ["AGENTS.md"],
      title: "T",
      name: "fixer",
      workspace_id: "wsp_0000000000000000",
      task_id: "tsk_0000000000000000",
      headless: true,
      parent_session_id: "ses_0000000000000001",
      idempotency_key: "k",
    });
    expect(Object.keys(whole).length).toBe(Object.keys(AgentCreate.shape).length - 1);
    expect(AgentCreate.parse(JSON.parse(JSON.stringify(whole)))).toEqual(whole);
    const { source: _, ...rest } = whole;
    const byTeam = { ...rest, team_id: `team_${"0".repeat(32)}` };
    expect(AgentCreate.parse(JSON.parse(JSON.stringify(byTeam)))).toEqual(byTeam);
  });

  test("keys are not part of any answer; only the spec shows how a session was created", async () => {
    expect(await post("/v1/session/create", { source: inline(YAML), keys: { A: "b" } })).toEqual([
      400,
      "invalid_request",
    ]);
    const runtime = await keep();
    const events = await collect(runtime.events({ follow: false }));
    const [info] = eventsOf(events, "team.info");
    expect(Object.keys(info?.spec ?? {}).toSorted()).toEqual([
      "agent",
      "base_dir",
      "name",
      "work_dir",
      "yaml",
    ]);
  });
});

describe("long streams", () => {
  test("outlive the request timeout, and the turn is complete", async () => {
    const { host } = gateway;
    await using impatient = await openTestGateway({ host, patience: { requestMs: REQUEST_MS } });
    const other = openRemoteBackend(createClient({ url: impatient.url, token: impatient.token }));
    const runtime = await other.open((await keep()).session_id);
    const events = await collect(runtime.run(say("Speak for long.")));
    const [started] = eventsOf(events, "turn.started");
    const ended = eventsOf(events, "turn.ended")[0];
    const took = Date.parse(ended?.at ?? "") - Date.parse(started?.at ?? "");
    expect(took).toBeGreaterThan(1.5 * REQUEST_MS);
    expect(eventsOf(events, "message.end")[0]?.text).toBe("word ".repeat(20));
  });

  test("carry lines of any length", async () => {
    const runtime = await keep();
    const events = await collect(runtime.run(say("Say much.")));
    expect(eventsOf(events, "message.end")[0]?.text).toBe(BIG);
    const deltas = eventsOf(events, "message.delta").map(({ text }) => text);
    expect(deltas.join("")).toBe(BIG);
  });
});

describe("a client that disconnects or stops reading", () => {
  test("does not stop the run by disconnecting; an interrupt does", async () => {
    const runtime = await keep();
    const tail = await tailOf(runtime);
    const ending = new AbortController();
    const answer = await gateway.fetch("/v1/session/run", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ session_id: runtime.session_id, messages: say("slowly") }),
      signal: ending.signal,
    });
    await readEvents(answer, (event) => typeOf(event) === "message.start");
    ending.abort();
    expect(await nextEvent(runtime, "turn.ended", tail)).toMatchObject({ reason: "done" });
    await startTurn(runtime, "Go.");
    expect((await runtime.snapshot()).activity).toBe("running");
    const { session_id } = runtime;
    expect(await gateway.get("session.interrupt", { session_id })).toEqual({ signalled: 1 });
    expect((await runtime.snapshot()).activity).toBe("idle");
    expect(await gateway.get("session.interrupt", { session_id })).toEqual({ signalled: 0 });
  });

  test("does not stop the run by not reading, and misses nothing when it reads again", async () => {
    const runtime = await keep();
    const { session_id } = runtime;
    const since = await tailOf(runtime);
    const path = `/v1/sessions/${session_id}/events?since=${since}`;
    // Nothing of these bodies is ever taken.
    const stuck = await Promise.all([gateway.fetch(path), gateway.fetch(path)]);
    const events = await collect(runtime.run(say("Say much.")));
    expect(events.at(-1)).toMatchObject({ type: "turn.ended", reason: "done" });
    // And when it reads on, nothing is missing.
    const [late] = stuck;
    const seen = await readEvents(late, (event) => typeOf(event) === "turn.ended");
    const all = await Array.fromAsync(runtime.events({ since, follow: false }));
    // The title is set in the background, so its event may follow the end of the turn.
    const upToEnd = all.filter(({ id }) => Number(id) <= Number(seen.at(-1)?.id));
    expect(seen.map(({ id }) => Number(id))).toEqual(upToEnd.map(({ id }) => Number(id)));
    expect(seen.map(typeOf)).toEqual(upToEnd.map(({ data }) => data.type));
    for (const { body } of stuck) await body?.cancel().catch(() => undefined);
  });
});

describe("events", () => {
  const path = (runtime: Runtime, query: string) =>
    `/v1/sessions/${runtime.session_id}/events?${query}`;

  test("continue after the last seen event, each exactly once, by query and by header", async () => {
    await using runtime = await create();
    await collect(runtime.run(say("Hello.")));
    const all: StreamItem<AnyEvent>[] = await Array.fromAsync(runtime.events({ follow: false }));
    // The host may note something of its own behind the turn at any moment.
    const last = Number(all.at(-1)?.id);
    const idsOf = (events: readonly SseEvent[]) =>
      events.map(({ id }) => Number(id)).filter((id) => id <= last);
    for (const [at, { id }] of all.entries()) {
      const rest = all.slice(at + 1).map((item) => Number(item.id));
      const byQuery = await gateway.fetch(path(runtime, `since=${id}&follow=false`));
      expect(idsOf(await readEvents(byQuery))).toEqual(rest);
    }
    const middle = all[Math.floor(all.length / 2)];
    const byHeader = await gateway.fetch(path(runtime, "follow=false"), {
      headers: { "Last-Event-ID": String(middle?.id) },
    });
    const ids = idsOf(await readEvents(byHeader));
    expect(ids).toEqual(all.map(({ id }) => Number(id)).filter((id) => id > Number(middle?.id)));
  });

  test("since the tail are only new events; an offset that is not in the log is refused", async () => {
    const runtime = await keep();
    await collect(runtime.run(say("Hello.")));
    const { events_tail } = await runtime.snapshot();
    const tail = await gateway.fetch(path(runtime, "since=tail"));
    const reading = readEvents(tail, (event) => typeOf(event) === "turn.ended");
    await collect(runtime.run(say("Again.")));
    const seen = await reading;
    expect(Number(seen[0]?.id)).toBeGreaterThan(events_tail);
    for (const since of ["abc", "-1", "1.5", "", "1e99", "NaN"]) {
      const { status } = await gateway.fetch(path(runtime, `since=${since}`));
      expect([since, [400, 416].includes(status)]).toEqual([since, true]);
    }
    for (const since of [events_tail + 1_000_000, 1]) {
      const { status } = await gateway.fetch(path(runtime, `since=${since}`));
      expect([since, status]).toEqual([since, 416]);
    }
  });

  test("of a purged session end, and the session is not found afterwards", async () => {
    await using runtime = await create();
    const { session_id } = runtime;
    const reading = readEvents(await gateway.fetch(path(runtime, "since=0")));
    await gateway.get("session.close", { session_id, purge: true });
    const seen = await reading;
    expect(seen.length).toBeGreaterThan(0);
    const { status } = await gateway.fetch(path(runtime, "since=0"));
    expect(status).toBe(404);
    expect(await post(`/v1/sessions/${session_id}/messages`, { messages: say("x") })).toEqual([
      404,
      "session_not_found",
    ]);
  });
});

describe("a snapshot over HTTP", () => {
  test("and the events behind it are complete, whenever it was taken", async () => {
    const runtime = await keep();
    await startTurn(runtime, "slowly");
    const looks: { readonly text: string; readonly tail: number }[] = [];
    await waitFor("the end", async () => {
      const { partial, events_tail, activity } = await runtime.snapshot();
      if (partial !== null) looks.push({ text: partial.text, tail: events_tail });
      return activity === "idle";
    });
    expect(looks.length).toBeGreaterThan(2);
    for (const { text, tail } of [
      looks[0],
      looks[Math.floor(looks.length / 2)],
      looks.at(-1),
    ].filter((look) => look !== undefined)) {
      const rest = await collect(runtime.events({ since: tail, follow: false }));
      const deltas = eventsOf(rest, "message.delta").map((event) => event.text);
      expect(text + deltas.join("")).toBe("word ".repeat(20));
    }
  });
});

describe("heartbeats", () => {
  test("come between frames and never inside a frame", async () => {
    const script = fc.array(
      fc.oneof(
        fc.record({ say: fc.string({ unit: "binary", maxLength: 50 }) }),
        fc.record({ quiet: fc.integer({ min: 1, max: 3 }) }),
      ),
      { maxLength: 20 },
    );
    let beats = 0;
    await fc.assert(
      fc.asyncProperty(script, async (steps) => {
        const clock = new ManualClock();
        const items = async function* () {
          for (const [id, step] of steps.entries()) {
            if ("say" in step) yield { id, data: { type: "t", text: step.say } };
            else
              for (let n = 0; n < step.quiet; n += 1) {
                clock.advance(limits.heartbeat_ms);
                await Promise.resolve();
              }
          }
        };
        const stream = eventStream(items(), {
          clock,
          signal: new AbortController().signal,
          onEnd: () => undefined,
          onError: () => undefined,
        });
        const text = await new Response(stream).text();
        beats += text.split("\n\n").filter((frame) => frame.startsWith(":")).length;
        const seen = await readEvents(new Response(text));
        const said = steps.flatMap((step) => ("say" in step ? [step.say] : []));
        expect(seen.map(({ data }) => JSON.parse(data).text)).toEqual(said);
      }),
      { numRuns: 60 },
    );
    expect(beats).toBeGreaterThan(0);
  });
});

describe("answers over HTTP", () => {
  test("that are invalid are 400, without a pending question 409, and the first valid one counts", async () => {
    await using runtime = await create();
    const path = `/v1/sessions/${runtime.session_id}/resume`;
    expect(await post(path, { approval_id: "apr_x", decision: "approve" })).toEqual([
      409,
      "nothing_pending",
    ]);
    const elicitation = `/v1/sessions/${runtime.session_id}/elicitation`;
    expect(await post(elicitation, { elicitation_id: "eli_x", action: "accept" })).toEqual([
      409,
      "nothing_pending",
    ]);
    await startTurn(runtime, "write");
    const { approval_id } = await nextEvent(runtime, "approval.requested");
    for (const body of [
      { approval_id, decision: "" },
      { approval_id, decision: "yes" },
      { approval_id },
      { decision: "approve" },
      { approval_id: "", decision: "approve" },
    ])
      expect(await post(path, body)).toEqual([400, "invalid_request"]);
    const answers = await Promise.all(
      ["reject", "approve", "approve_session"].map((decision) =>
        post(path, { approval_id, decision }),
      ),
    );
    expect(answers.map(([status]) => status).toSorted()).toEqual([200, 409, 409]);
    await nextEvent(runtime, "turn.ended");
    expect(await post(path, { approval_id, decision: "approve" })).toEqual([
      409,
      "nothing_pending",
    ]);
  });
});

describe("messages over HTTP", () => {
  test("are 202 when accepted, 409 when the agent is in the wrong state, 400 when invalid", async () => {
    await using runtime = await create();
    const path = (route: string) => `/v1/sessions/${runtime.session_id}/${route}`;
    for (const route of ["messages", "steer", "followup"])
      for (const body of [
        { messages: [] },
        {},
        { messages: "x" },
        { messages: [{ content: "" }] },
        { messages: [{ content: "  " }] },
        { messages: [{ content: [] }] },
        { messages: [{ role: "system", content: "x" }] },
      ])
        expect([route, body, await post(path(route), body)]).toEqual([
          route,
          body,
          [400, "invalid_request"],
        ]);
    expect(await post(path("steer"), { messages: say("x"), framing: "rude" })).toEqual([
      400,
      "invalid_request",
    ]);
    // What is wrong with it is said before anybody is asked.
    const nowhere = "/v1/sessions/ses_0000000000000000/steer";
    expect(await post(nowhere, { messages: say("x"), framing: "rude" })).toEqual([
      400,
      "invalid_request",
    ]);
    expect(await post(path("steer"), { messages: say("x") })).toEqual([409, "nothing_running"]);
    expect(await post(path("messages"), { messages: say("Go.") })).toEqual([202, undefined]);
    expect(await post(path("messages"), { messages: say("x") })).toEqual([409, "busy"]);
    expect(
      await post("/v1/session/run", { session_id: runtime.session_id, messages: say("x") }),
    ).toEqual([409, "busy"]);
    expect(await post(path("steer"), { messages: say("x") })).toEqual([202, undefined]);
    expect(await post(path("followup"), { messages: say("x") })).toEqual([202, undefined]);
    await runtime.interrupt();
    expect((await runtime.transcript()).total).toBe(1);
  });

  test("to a full queue are 429 with Retry-After, and the key can be used again", async () => {
    await using runtime = await create();
    const path = `/v1/sessions/${runtime.session_id}/steer`;
    await startTurn(runtime, "Go.");
    for (let n = 0; n < limits.steer_queue; n += 1)
      expect(await post(path, { messages: say("x"), idempotency_key: `k${n}` })).toEqual([
        202,
        undefined,
      ]);
    const answer = await send(path, JSON.stringify({ messages: say("x"), idempotency_key: "k" }));
    expect([answer.status, answer.headers.get("Retry-After")]).toEqual([429, "1"]);
    expect(JSON.parse(await answer.text()).error.code).toBe("queue_full");
    // One that was taken before is known, however full it is.
    const again = await send(path, JSON.stringify({ messages: say("x"), idempotency_key: "k0" }));
    expect([again.status, JSON.parse(await again.text())]).toEqual([202, { status: "duplicate" }]);
    await runtime.interrupt();
  });

  test("to a busy agent are refused with Retry-After too", async () => {
    const runtime = await keep();
    await startTurn(runtime, "Go.");
    const answer = await send(
      `/v1/sessions/${runtime.session_id}/messages`,
      JSON.stringify({ messages: say("x") }),
    );
    expect([answer.status, answer.headers.get("Retry-After")]).toEqual([409, "1"]);
    await runtime.interrupt();
  });
});
