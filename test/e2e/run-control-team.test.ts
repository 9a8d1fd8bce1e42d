import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { shareEmbeddedPlace } from "#test/harness/embedded-place.ts";
import { waitFor } from "#test/harness/eventually.ts";
import {
  collect,
  eventsOf,
  inline,
  nextEvent,
  openEmbeddedPlace,
  runToEnd,
} from "#test/harness/runtimes.ts";

/** Agents that work together: handed over, sent out, and in the background. */

const place = shareEmbeddedPlace();
const { create } = place;

interface Member {
  readonly steps: readonly object[];
  readonly [field: string]: unknown;
}

/** A team in which each agent has a script of its own. */
function team(members: Readonly<Record<string, Member>>, more: object = {}): string {
  const entries = Object.entries(members);
  return JSON.stringify({
    agents: Object.fromEntries(
      entries.map(([name, { steps: _, ...agent }]) => [
        name,
        { model: name, description: `Is ${name}.`, instruction: `You are ${name}.`, ...agent },
      ]),
    ),
    models: Object.fromEntries(
      entries.map(([name, { steps }]) => [name, { provider: "scripted", script: steps }]),
    ),
    ...more,
  });
}

const calls = (...inputs: readonly (readonly [string, object])[]) => ({
  tool_calls: inputs.map(([tool, input]) => ({ tool, input })),
});
const send = (agent: string, task: string) => ["transfer_task", { agent, task }] as const;
const start = (agent: string, task: string) => ["start_background_agent", { agent, task }] as const;
const write = (path: string) => ["write_file", { path, content: path }] as const;
const FILES = { toolsets: [{ type: "filesystem" }] };
const DONE = { text: "Done.", repeat: true };
const isThere = (name: string) => existsSync(join(place.workDir, name));

describe("a handoff", () => {
  const members = {
    root: { steps: [calls(["handoff", { agent: "other" }])], handoffs: ["other"] },
    other: {
      steps: [
        {
          expect: { system_contains: "You are other.", last_user_contains: "Help." },
          text: "I do.",
        },
        DONE,
      ],
    },
    stranger: { steps: [DONE] },
  };

  test("lets the other one go on with the same conversation, now and later", async () => {
    await using runtime = await create(team(members));
    const events = await runToEnd(runtime, "Help.");
    expect(eventsOf(events, "agent.switched")).toEqual([
      expect.objectContaining({ from: "root", to: "other", by: "handoff" }),
    ]);
    expect(eventsOf(events, "message.end").at(-1)).toMatchObject({ agent: "other", text: "I do." });
    expect((await runtime.currentAgent()).name).toBe("other");
    const next = await runToEnd(runtime, "And?");
    expect(eventsOf(next, "message.end")[0]).toMatchObject({ agent: "other" });
  });

  test("to one who is not named is an error, and the agent stays", async () => {
    const root = {
      steps: [
        calls(["handoff", { agent: "stranger" }]),
        { expect: { tool_error: true }, text: "Oh." },
      ],
      handoffs: ["other"],
    };
    await using runtime = await create(team({ ...members, root }));
    const events = await runToEnd(runtime, "Help.");
    expect(events.at(-1)).toMatchObject({ reason: "done" });
    expect(eventsOf(events, "tool.result")[0]?.output).toContain("other");
    expect((await runtime.currentAgent()).name).toBe("root");
  });
});

describe("a task that is given to a sub-agent", () => {
  test("is done in a conversation of its own, and its last words are the result", async () => {
    writeFileSync(join(place.workDir, "page"), "a page");
    const yaml = team({
      root: {
        steps: [
          calls(send("helper", "Read the page.")),
          { expect: { last_tool_result_contains: "It is a page." }, text: "Good." },
        ],
        sub_agents: ["helper"],
      },
      helper: {
        steps: [
          {
            expect: { last_user_contains: "Read the page.", messages_count: 1 },
            text: "I read.",
            ...calls(["read_file", { path: "page" }]),
          },
          { expect: { last_tool_result_contains: "a page" }, text: "It is a page." },
        ],
        ...FILES,
      },
    });
    await using runtime = await create(yaml);
    const events = await runToEnd(runtime, "Look.");
    expect(events.at(-1)).toMatchObject({ reason: "done" });
    expect(eventsOf(events, "subagent.started")).toEqual([
      expect.objectContaining({ name: "helper", task: "Read the page.", background: false }),
    ]);
    expect(eventsOf(events, "subagent.ended")[0]).toMatchObject({ outcome: "done" });
    expect(eventsOf(events, "turn.ended")).toHaveLength(1);
    const { messages } = await runtime.transcript();
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    // What it used is used by the session.
    const { usage } = await runtime.snapshot();
    const spent = eventsOf(events, "usage.updated").map((each) => each.usage.output_tokens);
    expect(spent).toHaveLength(4);
    expect(usage.output_tokens).toBe(spent.reduce((sum, each) => sum + each, 0));
  });

  test("several at once run side by side", async () => {
    const held = { toolsets: [{ type: "user_prompt" }] };
    const ask = calls(["user_prompt", { message: "Shall I?" }]);
    const yaml = team({
      root: { steps: [calls(send("a", "One."), send("b", "Two.")), DONE], sub_agents: ["a", "b"] },
      a: { steps: [ask, { text: "A is done." }], ...held },
      b: { steps: [ask, { text: "B is done." }], ...held },
    });
    await using runtime = await create(yaml);
    const running = runToEnd(runtime, "Both.");
    // Both ask before either is answered: neither waits for the other.
    const asked = await waitFor("both", async () => {
      const { elicitations } = await runtime.snapshot();
      return elicitations.length === 2 && elicitations;
    });
    expect(asked.map(({ agent }) => agent).toSorted()).toEqual(["a", "b"]);
    for (const { elicitation_id } of asked)
      await runtime.answerElicitation({ elicitation_id, action: "decline" });
    const events = await running;
    const results = eventsOf(events, "tool.result").filter(({ tool }) => tool === "transfer_task");
    expect(results.map(({ output }) => output).toSorted()).toEqual(["A is done.", "B is done."]);
    const root = (await runtime.transcript()).messages.filter(({ role }) => role === "tool");
    expect(root).toHaveLength(2);
  });

  test("to one who is not listed, to nobody, or without a task, is an error", async () => {
    const yaml = team({
      root: {
        steps: [
          calls(
            send("stranger", "Do it."),
            ["transfer_task", { task: "Do it." }],
            send("helper", "  "),
            send("root", "Do it."),
          ),
          { expect: { tool_error: true }, text: "Well." },
        ],
        sub_agents: ["helper"],
      },
      helper: { steps: [DONE] },
      stranger: { steps: [DONE] },
    });
    await using runtime = await create(yaml);
    const events = await runToEnd(runtime, "Go.");
    const results = eventsOf(events, "tool.result");
    expect(results.map(({ is_error }) => is_error)).toEqual([true, true, true, true]);
    expect(eventsOf(events, "subagent.started")).toEqual([]);
    expect(events.at(-1)).toMatchObject({ reason: "done" });
  });

  test("that fails is an error for who sent it, and the turn goes on", async () => {
    const yaml = team({
      root: {
        steps: [calls(send("helper", "Fail.")), { expect: { tool_error: true }, text: "I see." }],
        sub_agents: ["helper"],
      },
      helper: { steps: [{ error: { cause: "refused", message: "I will not." }, repeat: true }] },
    });
    await using runtime = await create(yaml);
    const events = await runToEnd(runtime, "Go.");
    expect(eventsOf(events, "subagent.ended")[0]).toMatchObject({ outcome: "failed" });
    expect(eventsOf(events, "tool.result")[0]?.output).toContain("I will not.");
    expect(events.at(-1)).toMatchObject({ reason: "done" });
  });

  test("goes only so deep", async () => {
    const deep = limits.subagents_deep + 1;
    const names = ["root", ...Array.from({ length: deep }, (_, n) => `a${n + 1}`)];
    const members = Object.fromEntries(
      names.map((name, at) => {
        const next = names[at + 1];
        const more = next === undefined ? {} : { sub_agents: [next] };
        const go = next === undefined ? [DONE] : [calls(send(next, "Deeper.")), DONE];
        return [name, { steps: go, ...more }];
      }),
    );
    await using runtime = await create(team(members));
    const events = await runToEnd(runtime, "Down.");
    expect(eventsOf(events, "subagent.started")).toHaveLength(limits.subagents_deep);
    expect(eventsOf(events, "tool.result")[0]).toMatchObject({
      is_error: true,
      output: expect.stringContaining("deep"),
    });
    expect(events.at(-1)).toMatchObject({ reason: "done" });
  });

  test("has the permissions of the session, asks under its name, and what is allowed there is allowed everywhere", async () => {
    const yaml = team(
      {
        root: {
          steps: [calls(send("helper", "Write.")), calls(write("root.txt")), DONE],
          sub_agents: ["helper"],
          ...FILES,
        },
        helper: { steps: [calls(write("no.md"), write("sub.txt")), DONE], ...FILES },
      },
      { permissions: { deny: ["write_file:path=*.md"] } },
    );
    await using runtime = await create(yaml);
    const running = runToEnd(runtime, "Go.");
    const asked = await nextEvent(runtime, "approval.requested");
    expect(asked).toMatchObject({ agent: "helper", subagent_id: expect.any(String) });
    expect(asked.input).toMatchObject({ path: "sub.txt" });
    await runtime.resume({ approval_id: asked.approval_id, decision: "approve_tool" });
    expect(eventsOf(await running, "approval.requested")).toHaveLength(1);
    expect([isThere("no.md"), isThere("sub.txt"), isThere("root.txt")]).toEqual([
      false,
      true,
      true,
    ]);
  });
});

describe("background agents", () => {
  const BACKGROUND = { toolsets: [{ type: "background_agents" }] };
  const idIn = (text: string) => /sub_\w+/.exec(text)?.[0] ?? "";

  /** A lead that starts one and then does what it is told: `list`, `read`, `stop`, or nothing. */
  function lead(helper: Member, more: object = {}): string {
    const root = {
      steps: [
        {
          when: { last_user_contains: "start", last_role: "user" },
          ...calls(start("helper", "Work.")),
        },
        {
          when: { last_user_contains: "list", last_role: "user" },
          ...calls(["list_background_agents", {}]),
        },
        DONE,
      ],
      sub_agents: ["helper"],
      ...BACKGROUND,
    };
    return team({ root, helper }, more);
  }

  test("work on when the turn has ended, and are listed until they are done", async () => {
    const ask = calls(["user_prompt", { message: "Shall I?" }]);
    const helper = {
      steps: [ask, { text: "The work is done." }],
      toolsets: [{ type: "user_prompt" }],
    };
    await using runtime = await create(lead(helper));
    const events = await runToEnd(runtime, "start");
    const id = idIn(eventsOf(events, "tool.result")[0]?.output ?? "");
    const asked = await nextEvent(runtime, "elicitation.requested");
    expect(asked).toMatchObject({ agent: "helper", subagent_id: id });
    const listed = eventsOf(await runToEnd(runtime, "list"), "tool.result")[0]?.output;
    expect(listed).toBe(`${id} helper: working: Work.`);
    await runtime.answerElicitation({ elicitation_id: asked.elicitation_id, action: "decline" });
    expect(await nextEvent(runtime, "subagent.ended")).toMatchObject({
      subagent_id: id,
      outcome: "done",
      text: "The work is done.",
    });
    expect(eventsOf(await runToEnd(runtime, "list"), "tool.result")[0]?.output).toContain("done");
    expect((await runtime.snapshot()).activity).toBe("idle");
  });

  test("are not stopped by an interrupt of the turn, and are by the one who started them", async () => {
    const never = { delay_ms: 600_000, text: "Never." };
    const root = {
      steps: [
        {
          when: { last_user_contains: "start", last_role: "user" },
          ...calls(start("helper", "Work.")),
        },
        { when: { last_user_contains: "start", last_role: "tool" }, ...never },
        {
          when: { last_user_contains: "wrong", last_role: "user" },
          ...calls(["stop_background_agent", { id: "sub_x" }], ["read_background_agent", {}]),
        },
        DONE,
      ],
      sub_agents: ["helper"],
      ...BACKGROUND,
    };
    await using runtime = await create(team({ root, helper: { steps: [never] } }));
    const running = runToEnd(runtime, "start");
    await nextEvent(runtime, "subagent.started");
    await nextEvent(runtime, "tool.result");
    await runtime.interrupt();
    expect((await running).at(-1)).toMatchObject({ reason: "interrupted" });
    expect(eventsOf(await collect(runtime.events({ follow: false })), "subagent.ended")).toEqual(
      [],
    );
    const wrong = eventsOf(await runToEnd(runtime, "wrong"), "tool.result");
    expect(wrong.map(({ is_error }) => is_error)).toEqual([true, true]);
  });

  test("end with the session", async () => {
    const never = { delay_ms: 600_000, text: "Never." };
    const own = await openEmbeddedPlace();
    const runtime = await own.backend.create({
      source: inline(lead({ steps: [never] })),
      working_dir: own.workDir,
    });
    await runToEnd(runtime, "start");
    const watching = nextEvent(runtime, "subagent.ended");
    await own[Symbol.asyncDispose]();
    expect(await watching).toMatchObject({ outcome: "stopped" });
  });

  test("have the permissions of the session, never more", async () => {
    const helper = { steps: [calls(write("bg.md"), write("bg.txt")), DONE], ...FILES };
    await using runtime = await create(
      lead(helper, { permissions: { deny: ["write_file:path=*.md"] } }),
    );
    await runToEnd(runtime, "start");
    const asked = await nextEvent(runtime, "approval.requested");
    expect(asked).toMatchObject({ agent: "helper", input: { path: "bg.txt" } });
    expect((await runtime.snapshot()).activity).toBe("waiting");
    await runtime.resume({ approval_id: asked.approval_id, decision: "reject" });
    await nextEvent(runtime, "subagent.ended");
    expect([isThere("bg.md"), isThere("bg.txt")]).toEqual([false, false]);
    await using alone = await create(lead(helper), { headless: true });
    await runToEnd(alone, "start");
    expect(await nextEvent(alone, "subagent.ended")).toMatchObject({ outcome: "done" });
    expect(isThere("bg.txt")).toBe(false);
  });
});
