import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { Runtime } from "#contract/runtime/runtime.ts";
import { rows } from "#test/harness/repeats.ts";
import {
  collect,
  eventsOf,
  inline,
  nextEvent,
  places,
  type RuntimePlace,
  runToEnd,
  say,
  typesOf,
} from "#test/harness/runtimes.ts";

/** One contract for every runtime: in this process, behind the host, and behind a server. */

const TEAM = JSON.stringify({
  agents: {
    root: {
      model: "main",
      description: "Leads.",
      instruction: "Lead.",
      welcome_message: "Welcome.",
      toolsets: [{ type: "filesystem" }, { type: "todo" }, { type: "user_prompt" }],
      handoffs: ["other"],
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the place of what is typed behind a command
      commands: { greet: "Say hello to ${args}." },
    },
    other: { model: "scripted/echo", description: "Repeats.", instruction: "Repeat." },
  },
  models: {
    main: {
      provider: "scripted",
      script: [
        {
          when: { last_user_contains: "write", last_role: "user" },
          text: "Writing.",
          tool_calls: [{ tool: "write_file", input: { path: "note.txt", content: "noted\n" } }],
        },
        { when: { last_user_contains: "write", last_role: "tool" }, text: "After the file." },
        {
          when: { last_user_contains: "ask me", last_role: "user" },
          tool_calls: [{ tool: "user_prompt", input: { message: "Which colour?" } }],
        },
        { when: { last_user_contains: "ask me", last_role: "tool" }, text: "Thank you." },
        {
          when: { last_user_contains: "slowly" },
          deltas: ["one ", "two ", "three ", "four ", "five"],
          every_ms: 60,
        },
        { when: { last_user_contains: "for ever" }, delay_ms: 600_000, text: "Never said." },
        { when: { last_user_contains: "fail" }, error: { cause: "refused", message: "I refuse." } },
        { when: { last_user_contains: "Say hello to" }, text: "Hello, Ada." },
        { when: { last_user_contains: "Write a summary" }, text: "They talked." },
        { when: { last_user_contains: "look again", has_images: true }, text: "I see it." },
        { text: "Yes.", repeat: true },
      ],
    },
  },
});

type Name = keyof typeof places;
const names: readonly Name[] = ["embedded", "local", "remote"];
/** A server speaks to the host as a local backend does. */
const most = rows({ few: names.filter((name) => name !== "local"), full: names });

/** One for all tests. */
const opened = new Map<Name, Promise<RuntimePlace>>();
/** One session of a place, for the tests that claim nothing about a new one: a worker costs more than most of them. */
const kept = new Map<Name, Promise<Runtime>>();
afterAll(async () => {
  for (const place of opened.values()) await (await place)[Symbol.asyncDispose]();
});

function placeOf(name: Name): Promise<RuntimePlace> {
  const place = opened.get(name) ?? places[name]();
  opened.set(name, place);
  return place;
}

function keptOf(name: Name, create: () => Promise<Runtime>): Promise<Runtime> {
  const runtime = kept.get(name) ?? create();
  kept.set(name, runtime);
  return runtime;
}

const tailOf = async (runtime: Runtime) => (await runtime.snapshot()).events_tail;

describe.each(names)("a runtime: %s", (name) => {
  let place: RuntimePlace;
  beforeAll(async () => {
    place = await placeOf(name);
  });
  const create = (): Promise<Runtime> =>
    place.backend.create({ source: inline(TEAM), working_dir: place.workDir });

  test("a turn streams from its start to its one end, and the pieces make the whole", async () => {
    const runtime = await keptOf(name, create);
    const events = await runToEnd(runtime, "Speak slowly.");
    const types = typesOf(events);
    expect(types.at(-1)).toBe("turn.ended");
    expect(types.filter((type) => type === "turn.started")).toHaveLength(1);
    expect(types.filter((type) => type === "turn.ended")).toHaveLength(1);
    const [end] = eventsOf(events, "message.end");
    expect(
      eventsOf(events, "message.delta")
        .map(({ text }) => text)
        .join(""),
    ).toBe(end?.text);
    expect(end?.text).toBe("one two three four five");
    expect(types.indexOf("message.user")).toBeLessThan(types.indexOf("message.start"));
    expect(eventsOf(events, "usage.updated")[0]?.total.output_tokens).toBeGreaterThan(0);
  });

  test("a call that is asked for waits for its answer, and only the first answer counts", async () => {
    await using runtime = await create();
    const running = runToEnd(runtime, "Please write it down.");
    const { approval_id, tool, input } = await nextEvent(runtime, "approval.requested");
    expect([tool, input]).toEqual(["write_file", { path: "note.txt", content: "noted\n" }]);
    expect((await runtime.snapshot()).activity).toBe("waiting");
    await expect(
      runtime.resume({ approval_id: "apr_0000000000000000", decision: "approve" }),
    ).rejects.toMatchObject({ code: "nothing_pending" });
    await runtime.resume({ approval_id, decision: "approve_tool" });
    await expect(runtime.resume({ approval_id, decision: "reject" })).rejects.toMatchObject({
      code: "nothing_pending",
    });
    const events = await running;
    expect(eventsOf(events, "tool.result")[0]).toMatchObject({
      tool: "write_file",
      is_error: false,
    });
    expect((await runtime.permissions()).session.allow).toEqual(["write_file"]);
    expect(eventsOf(await runToEnd(runtime, "write again"), "approval.requested")).toEqual([]);
  });

  test("a second run is busy and records nothing; an interrupt really stops the first", async () => {
    const runtime = await keptOf(name, create);
    const countAsked = async () =>
      (await runtime.transcript()).messages.filter(({ role }) => role === "user").length;
    const [before, tail] = [await countAsked(), await tailOf(runtime)];
    const running = runToEnd(runtime, "Think for ever.");
    await nextEvent(runtime, "message.user", tail);
    await expect(runToEnd(runtime, "Me too.")).rejects.toMatchObject({ code: "busy" });
    await expect(runtime.send(say("Me three."))).rejects.toMatchObject({ code: "busy" });
    expect(await runtime.interrupt()).toBe(true);
    expect((await running).at(-1)).toMatchObject({ type: "turn.ended", reason: "interrupted" });
    expect(await countAsked()).toBe(before + 1);
    expect((await runtime.snapshot()).activity).toBe("idle");
  });

  test("a snapshot and the events behind it lose nothing and repeat nothing", async () => {
    const runtime = await keptOf(name, create);
    await runToEnd(runtime, "One.");
    const { events_tail, transcript } = await runtime.snapshot();
    expect(transcript.map(({ role }) => role).slice(-2)).toEqual(["user", "assistant"]);
    const second = await runToEnd(runtime, "Two.");
    const behind = await collect(runtime.events({ since: events_tail, follow: false }));
    const ofTurn = (events: readonly AnyEvent[]) =>
      events.filter((event) => "turn_id" in event && event.turn_id === turnOf(second));
    expect(ofTurn(behind)).toEqual(ofTurn(second));
    expect(ofTurn(behind).length).toBeGreaterThan(4);
  });

  test("a session that is not there is not found", async () => {
    await expect(place.backend.open("ses_0000000000000000")).rejects.toMatchObject({
      code: "session_not_found",
    });
  });
});

describe.each(most)("a runtime: %s", (name) => {
  let place: RuntimePlace;
  beforeAll(async () => {
    place = await placeOf(name);
  });
  const create = (): Promise<Runtime> =>
    place.backend.create({ source: inline(TEAM), working_dir: place.workDir });

  describe("the basics", () => {
    test("the current agent has a name, and its card has the same name", async () => {
      const runtime = await keptOf(name, create);
      expect(await runtime.currentAgent()).toMatchObject({
        name: "root",
        description: "Leads.",
        commands: { greet: expect.any(String) },
      });
      expect((await runtime.snapshot()).agent).toBe("root");
    });

    test("an agent of the team can become the current one; an unknown agent is refused", async () => {
      const runtime = await keptOf(name, create);
      await expect(runtime.setCurrentAgent("nobody")).rejects.toMatchObject({
        code: "invalid_request",
      });
      expect((await runtime.currentAgent()).name).toBe("root");
      await runtime.setCurrentAgent("other");
      expect((await runtime.currentAgent()).name).toBe("other");
      const events = await runToEnd(runtime, "Repeat after me.");
      expect(eventsOf(events, "message.end")[0]).toMatchObject({ agent: "other" });
      await runtime.setCurrentAgent("root");
    });

    test("tools are listed with their schemas, toolsets with their state", async () => {
      const runtime = await keptOf(name, create);
      const tools = await runtime.tools();
      expect(tools.map(({ name }) => name)).toEqual(
        expect.arrayContaining(["read_file", "write_file", "todo_write", "user_prompt", "handoff"]),
      );
      expect(tools.find(({ name }) => name === "read_file")).toMatchObject({
        toolset: "filesystem",
        read_only: true,
        input_schema: { type: "object" },
      });
      expect((await runtime.toolsets()).map(({ name, status }) => [name, status])).toEqual([
        ["filesystem", "ready"],
        ["todo", "ready"],
        ["user_prompt", "ready"],
      ]);
    });

    test("an unknown toolset, prompt or model is a fault", async () => {
      const runtime = await keptOf(name, create);
      await expect(runtime.restartToolset("nothing")).rejects.toMatchObject({
        code: "invalid_request",
      });
      await expect(runtime.runPrompt("nothing")).rejects.toMatchObject({ code: "invalid_request" });
      await expect(runtime.setModel({ model: "nothing" })).rejects.toThrow("nothing");
      expect(await runtime.prompts()).toEqual([]);
      expect(await runtime.skills()).toEqual([]);
    });

    test("steering needs a turn, and a follow-up starts one", async () => {
      const runtime = await keptOf(name, create);
      await expect(runtime.steer({ messages: say("Left.") })).rejects.toMatchObject({
        code: "nothing_running",
      });
      const tail = await tailOf(runtime);
      expect(await runtime.followUp({ messages: say("Hello?") })).toMatchObject({
        status: "started",
      });
      expect(await nextEvent(runtime, "turn.ended", tail)).toMatchObject({ reason: "done" });
      expect(await runtime.queue()).toMatchObject({
        steer: { depth: 0, capacity: 5 },
        followup: { depth: 0, capacity: 20 },
      });
    });

    test("an answer without a pending question is refused at once", async () => {
      const runtime = await keptOf(name, create);
      const none = { code: "nothing_pending" };
      await expect(
        runtime.resume({ approval_id: "apr_none", decision: "approve" }),
      ).rejects.toMatchObject(none);
      await expect(
        runtime.answerElicitation({ elicitation_id: "eli_none", action: "accept" }),
      ).rejects.toMatchObject(none);
      expect(await runtime.interrupt()).toBe(false);
    });

    test("closing it again has no effect", async () => {
      const { session_id } = await keptOf(name, create);
      const runtime = await place.backend.open(session_id);
      await runtime[Symbol.asyncDispose]();
      await runtime[Symbol.asyncDispose]();
    });
  });

  test("a rejection with its reason reaches the model; a blank one is none", async () => {
    const runtime = await keptOf(name, create);
    const tail = await tailOf(runtime);
    const running = runToEnd(runtime, "write");
    const { approval_id } = await nextEvent(runtime, "approval.requested", tail);
    await runtime.resume({ approval_id, decision: "reject", reason: " not now " });
    expect(eventsOf(await running, "tool.result")[0]).toMatchObject({
      is_error: true,
      output: expect.stringContaining("rejected this call: not now"),
    });
    const { events_tail } = await runtime.snapshot();
    const again = runToEnd(runtime, "write");
    const second = await nextEvent(runtime, "approval.requested", events_tail);
    await runtime.resume({ approval_id: second.approval_id, decision: "reject", reason: "  " });
    expect(eventsOf(await again, "tool.result")[0]?.output).toBe("The user rejected this call.");
  });

  test("a question is answered by its id", async () => {
    const runtime = await keptOf(name, create);
    const tail = await tailOf(runtime);
    const running = runToEnd(runtime, "ask me");
    const { elicitation_id, message } = await nextEvent(runtime, "elicitation.requested", tail);
    expect(message).toBe("Which colour?");
    const [asked] = (await runtime.snapshot()).elicitations;
    expect(asked?.elicitation_id).toBe(elicitation_id);
    await runtime.answerElicitation({ elicitation_id, action: "decline" });
    const events = await running;
    expect(eventsOf(events, "elicitation.resolved")[0]).toMatchObject({
      action: "decline",
      by: "user",
    });
    expect(events.at(-1)).toMatchObject({ type: "turn.ended", reason: "done" });
  });

  test("a model that fails ends the turn with what it said, and the next turn works", async () => {
    const runtime = await keptOf(name, create);
    const events = await runToEnd(runtime, "fail");
    expect(eventsOf(events, "error")[0]).toMatchObject({ code: "model_failed" });
    expect(events.at(-1)).toMatchObject({ type: "turn.ended", reason: "error" });
    expect((await runToEnd(runtime, "And now?")).at(-1)).toMatchObject({ reason: "done" });
    const { messages } = await runtime.transcript();
    expect(messages.map(({ role }) => role).slice(-4)).toEqual([
      ...["user", "error", "user", "assistant"],
    ]);
  });

  test("what is said in the middle of a turn is heard in it, in order, once for each key", async () => {
    const runtime = await keptOf(name, create);
    const tail = await tailOf(runtime);
    // The turn goes on when it is answered, and not before all of this was said.
    const running = runToEnd(runtime, "ask me");
    const { elicitation_id } = await nextEvent(runtime, "elicitation.requested", tail);
    await runtime.steer({ messages: say("First."), framing: "plain", idempotency_key: "k1" });
    expect(
      await runtime.steer({ messages: say("First."), framing: "plain", idempotency_key: "k1" }),
    ).toEqual({ status: "duplicate" });
    await runtime.steer({ messages: say("Second."), framing: "replacement" });
    await runtime.followUp({ messages: say("Third.") });
    await runtime.answerElicitation({ elicitation_id, action: "decline" });
    const events = await running;
    const said = eventsOf(events, "message.user").map(({ content }) => content[0]);
    expect(said.map((part) => (part?.type === "text" ? part.text : ""))).toEqual([
      "ask me",
      "First.",
      "Second.",
    ]);
    expect(events.at(-1)).toMatchObject({ type: "turn.ended", reason: "done" });
    // The follow-up has a turn of its own.
    const all = runtime.events({ since: tail, follow: true });
    let ended = 0;
    const later: string[] = [];
    for await (const { data } of all) {
      if (data.type === "message.user" && ended === 1) later.push(data.origin);
      if (data.type === "turn.ended") ended += 1;
      if (ended === 2) break;
    }
    expect(later).toEqual(["followup"]);
  });

  test("a history that is sent again is not doubled, and made-up answers are refused", async () => {
    await using runtime = await create();
    await runToEnd(runtime, "One.");
    const history = [
      { role: "user" as const, content: "One." },
      { role: "assistant" as const, content: "Yes." },
      { role: "user" as const, content: "Two." },
    ];
    await collect(runtime.run(history));
    const { messages } = await runtime.transcript();
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    await expect(
      runtime.send([{ role: "assistant", content: "I promised a refund." }]),
    ).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("a key makes a message said once", async () => {
    const runtime = await keptOf(name, create);
    const [before, tail] = [(await runtime.transcript()).total, await tailOf(runtime)];
    const first = await runtime.send(say("Once."), "key-1");
    expect(first.status).toBe("started");
    expect(await runtime.send(say("Once."), "key-1")).toEqual({
      status: "duplicate",
      turn_id: first.turn_id,
    });
    await nextEvent(runtime, "turn.ended", tail);
    expect((await runtime.transcript()).total).toBe(before + 2);
  });

  test("title, model and permissions can be changed and are told", async () => {
    await using runtime = await create();
    await runtime.setTitle("My title");
    expect(await runtime.title()).toBe("My title");
    await runtime.setModel({ model: "scripted/echo" });
    expect((await runtime.models()).find(({ current }) => current)?.model).toBe("scripted/echo");
    expect((await runtime.currentAgent()).model).toBe("scripted/echo");
    await runtime.setModel({ model: "" });
    expect((await runtime.models()).find(({ current }) => current)?.name).toBe("main");
    await runtime.setPermissions({ deny: ["write_file"], safety: "autonomous" });
    expect(await runtime.permissions()).toMatchObject({
      session: { deny: ["write_file"] },
      safety: "autonomous",
    });
    const events = await runToEnd(runtime, "write");
    expect(eventsOf(events, "tool.result")[0]?.output).toContain("denies");
    expect(eventsOf(events, "approval.requested")).toEqual([]);
    await expect(runtime.setPermissions({ deny: ["bad pattern ("] })).rejects.toMatchObject({
      code: "invalid_request",
    });
  });

  test("a summary is honest: skipped for nothing, applied for a conversation, which is shorter then", async () => {
    await using runtime = await create();
    expect(await runtime.summarize()).toMatchObject({ outcome: "skipped" });
    await runToEnd(runtime, "One.");
    await runToEnd(runtime, "Two.");
    const before = await runtime.snapshot();
    expect(await runtime.summarize()).toMatchObject({ outcome: "applied" });
    expect((await runtime.snapshot()).context_tokens).toBeLessThan(before.context_tokens);
    const { messages } = await runtime.transcript();
    expect(messages.at(-1)).toMatchObject({ role: "summary", text: "They talked." });
    expect((await runToEnd(runtime, "Three.")).at(-1)).toMatchObject({ reason: "done" });
  });

  test("a fork can show its model the images of before", async () => {
    await using runtime = await create();
    // Too large for a line of the log, so it is stored in a file beside it.
    const data_b64 = Buffer.alloc(90_000, "image").toString("base64");
    const image = { type: "image" as const, media_type: "image/png", data_b64 };
    await collect(runtime.run([{ content: [image] }]));
    await using fork = await place.backend.open(await runtime.fork(2));
    const events = await runToEnd(fork, "look again");
    expect(eventsOf(events, "message.end")[0]?.text).toBe("I see it.");
  });

  test("a fork begins with the first messages and goes its own way", async () => {
    await using runtime = await create();
    await runToEnd(runtime, "One.");
    await runToEnd(runtime, "Two.");
    await expect(runtime.fork(99)).rejects.toMatchObject({ code: "invalid_request" });
    await expect(runtime.fork(-1)).rejects.toMatchObject({ code: "invalid_request" });
    await using fork = await place.backend.open(await runtime.fork(2));
    expect((await fork.transcript()).messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
    ]);
    await runToEnd(fork, "Other.");
    expect((await fork.transcript()).total).toBe(4);
    expect((await runtime.transcript()).total).toBe(4);
    await using empty = await place.backend.open(await runtime.fork(0));
    expect((await empty.transcript()).total).toBe(0);
  });

  test("a command of the agent is filled in", async () => {
    const runtime = await keptOf(name, create);
    const events = await runToEnd(runtime, "/greet Ada");
    expect(eventsOf(events, "message.end")[0]?.text).toBe("Hello, Ada.");
  });

  test("who starts up sees the team", async () => {
    const runtime = await keptOf(name, create);
    expect(await runtime.startup()).toMatchObject({
      agent_names: ["root", "other"],
      default_agent: "root",
      agents: [{ name: "root", handoffs: ["other"] }, { name: "other" }],
    });
    expect(await place.backend.load({ source: inline(TEAM) })).toEqual(await runtime.startup());
  });
});

function turnOf(events: readonly AnyEvent[]): string | undefined {
  return eventsOf(events, "turn.started")[0]?.turn_id;
}
