import { describe, expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { Runtime } from "#contract/runtime/runtime.ts";
import { shareEmbeddedPlace } from "#test/harness/embedded-place.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { eventsOf, nextEvent, runToEnd, scripted, typesOf } from "#test/harness/runtimes.ts";

/** 8.25: where a run stops by itself, and what is left when its history is made smaller. */

const place = shareEmbeddedPlace();
const { create } = place;

const THINKS = { toolsets: [{ type: "think" }] };
const think = (n: number) => ({ tool_calls: [{ tool: "think", input: { thought: `${n}` } }] });
const thoughts = (count: number) => Array.from({ length: count }, (_, n) => think(n));
const asked = (events: readonly AnyEvent[]) => eventsOf(events, "message.end").length;

describe("the limit of iterations", () => {
  test("0 means no limit", async () => {
    const steps = [...thoughts(40), { text: "Done." }];
    await using runtime = await create(scripted(steps, { ...THINKS, max_iterations: 0 }));
    const events = await runToEnd(runtime, "Think.");
    expect(events.at(-1)).toMatchObject({ reason: "done" });
    expect([asked(events), eventsOf(events, "limit.reached").length]).toEqual([41, 0]);
  });

  test("1 runs the calls of one step and then asks; yes adds ten steps, no ends the turn", async () => {
    await using runtime = await create(scripted(thoughts(30), { ...THINKS, max_iterations: 1 }));
    const running = runToEnd(runtime, "Think.");
    const first = await nextEvent(runtime, "approval.requested");
    expect(first).toMatchObject({ kind: "max_iterations" });
    const { events_tail, transcript } = await runtime.snapshot();
    expect(transcript.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    await runtime.resume({ approval_id: first.approval_id, decision: "approve" });
    const second = await nextEvent(runtime, "approval.requested", events_tail);
    await runtime.resume({ approval_id: second.approval_id, decision: "reject" });
    const events = await running;
    expect([asked(events), events.at(-1)]).toEqual([
      11,
      expect.objectContaining({ type: "turn.ended", reason: "limit" }),
    ]);
    expect(eventsOf(events, "limit.reached").map(({ limit }) => limit)).toEqual([
      "max_iterations",
      "max_iterations",
    ]);
    // Every turn has its own.
    const next = runToEnd(runtime, "More.");
    const third = await waitFor(
      "the question",
      async () => (await runtime.snapshot()).approvals[0],
    );
    await runtime.resume({ approval_id: third.approval_id, decision: "reject" });
    expect(asked(await next)).toBe(1);
  });

  test("an answer without calls does not ask", async () => {
    await using runtime = await create(scripted([{ text: "Done." }], { max_iterations: 1 }));
    expect(typesOf(await runToEnd(runtime, "Go."))).not.toContain("limit.reached");
  });

  test("ends a headless turn; an autonomous turn continues a bounded number of times", async () => {
    const yaml = scripted(thoughts(80), { ...THINKS, max_iterations: 2 });
    await using careful = await create(yaml, { headless: true });
    const events = await runToEnd(careful, "Think.");
    expect([asked(events), events.at(-1)]).toEqual([
      2,
      expect.objectContaining({ reason: "limit" }),
    ]);
    await using bold = await create(yaml, { headless: true, safety: "autonomous" });
    const more = await runToEnd(bold, "Think.");
    expect([asked(more), more.at(-1)]).toEqual([52, expect.objectContaining({ reason: "limit" })]);
  });
});

describe("loops", () => {
  test("the same call repeated ends the turn with a result for each call, and the next turn counts from zero", async () => {
    const steps = [{ ...think(1), repeat: true }];
    await using runtime = await create(scripted(steps, THINKS));
    for (const text of ["Think.", "Again."]) {
      const events = await runToEnd(runtime, text);
      expect(events.at(-1)).toMatchObject({ type: "turn.ended", reason: "loop" });
      expect(asked(events)).toBe(limits.identical_calls);
      expect(eventsOf(events, "tool.result").map(({ is_error }) => is_error)).toEqual([
        ...Array.from({ length: limits.identical_calls - 1 }, () => false),
        true,
      ]);
    }
  });

  test("polling a background process is not a loop", async () => {
    const poll = { tool_calls: [{ tool: "process_list", input: {} }] };
    const steps = [
      ...Array.from({ length: 3 * limits.identical_calls }, () => poll),
      { text: "Ok." },
    ];
    await using runtime = await create(scripted(steps, { toolsets: [{ type: "shell" }] }));
    const events = await runToEnd(runtime, "Wait.");
    expect(events.at(-1)).toMatchObject({ reason: "done" });
  });
});

describe("budgets", () => {
  const spending = { usage: { input_tokens: 60, output_tokens: 0 } };

  test("are checked between steps: the calls of the step run, then the turn ends and reports what was spent", async () => {
    const steps = thoughts(5).map((step) => ({ ...step, ...spending }));
    await using runtime = await create(scripted(steps, THINKS), { limits: { max_tokens: 100 } });
    const events = await runToEnd(runtime, "Think.");
    expect([asked(events), events.at(-1)]).toEqual([
      2,
      expect.objectContaining({ type: "turn.ended", reason: "budget" }),
    ]);
    expect(eventsOf(events, "limit.reached")[0]).toMatchObject({ limit: "max_tokens" });
    // There is nothing left for the next turn.
    const next = await runToEnd(runtime, "More.");
    expect([asked(next), next.at(-1)]).toEqual([0, expect.objectContaining({ reason: "budget" })]);
  });

  test("are shared with sub-agents, and the stricter one of team file and request applies", async () => {
    const models = {
      lead: {
        provider: "scripted",
        cost: { input: 1_000_000, output: 0 },
        script: [
          {
            tool_calls: [{ tool: "transfer_task", input: { agent: "helper", task: "x" } }],
            ...spending,
          },
          { text: "Never." },
        ],
      },
      help: {
        provider: "scripted",
        cost: { input: 1_000_000, output: 0 },
        script: [{ text: "Done.", ...spending }],
      },
    };
    const yaml = JSON.stringify({
      agents: {
        root: { model: "lead", description: "Leads.", sub_agents: ["helper"] },
        helper: { model: "help", description: "Helps." },
      },
      models,
      limits: { max_cost: 1000 },
    });
    await using runtime = await create(yaml, { limits: { max_cost: 100 } });
    const events = await runToEnd(runtime, "Go.");
    expect(events.at(-1)).toMatchObject({ type: "turn.ended", reason: "budget" });
    expect(eventsOf(events, "limit.reached")[0]).toMatchObject({ limit: "max_cost" });
    expect((await runtime.snapshot()).usage).toMatchObject({ input_tokens: 120, cost: 120 });
  });

  test("of time end a sub-agent and then the agent that started it", async () => {
    const yaml = JSON.stringify({
      agents: {
        root: { model: "lead", description: "Leads.", sub_agents: ["helper"] },
        helper: { model: "help", description: "Helps.", ...THINKS },
      },
      models: {
        lead: {
          provider: "scripted",
          script: [
            { tool_calls: [{ tool: "transfer_task", input: { agent: "helper", task: "x" } }] },
            { text: "Never." },
          ],
        },
        help: {
          provider: "scripted",
          script: thoughts(50).map((step) => ({ ...step, delay_ms: 20 })),
        },
      },
    });
    await using runtime = await create(yaml, { limits: { max_time_ms: 100 } });
    const events = await runToEnd(runtime, "Go.");
    expect(eventsOf(events, "subagent.ended")[0]).toMatchObject({ outcome: "failed" });
    expect(events.at(-1)).toMatchObject({ reason: "budget" });
  });
});

describe("compaction", () => {
  const SUMMARY = "Write a summary";
  const models = (script: readonly object[]) => ({
    models: { main: { provider: "scripted", context_limit: 1000, script } },
  });
  const full = { usage: { input_tokens: 950, output_tokens: 10 } };
  const rolesOf = async (runtime: Runtime) =>
    (await runtime.transcript()).messages.map(({ role }) => role);

  test("runs before a request that would not fit, and the model continues from the summary", async () => {
    const script = [
      { when: { last_user_contains: SUMMARY }, text: "They greeted." },
      { text: "Hello.", ...full },
      {
        when: { last_user_contains: "Two." },
        text: "I remember.",
        expect: { messages_at_most: 3 },
      },
    ];
    await using runtime = await create(scripted([], {}, models(script)));
    await runToEnd(runtime, "One.");
    const events = await runToEnd(runtime, "Two.");
    expect(events.at(-1)).toMatchObject({ reason: "done" });
    expect(eventsOf(events, "compaction.started")[0]?.cause).toBe("context");
    expect(eventsOf(events, "compaction.ended")[0]).toMatchObject({
      outcome: "applied",
      summary: "They greeted.",
    });
    // What it cost is counted.
    expect(eventsOf(events, "usage.updated")).toHaveLength(2);
    expect(await rolesOf(runtime)).toEqual(["user", "assistant", "user", "summary", "assistant"]);
  });

  test.each([
    ["fails", { error: { cause: "refused", message: "No." }, repeat: true }],
    ["breaks off", { text: "Half a", cut: true, repeat: true }],
    ["is empty", { text: "  \n" }],
  ])("that %s leaves the history untouched, says so, and the turn goes on", async (_name, step) => {
    const script = [
      { when: { last_user_contains: SUMMARY }, ...step },
      { text: "Hello.", ...full },
      { expect: { messages_count: 3, last_user_contains: "Two." }, text: "I remember." },
    ];
    const agent = { fallback: { models: [], retries: 0 } };
    await using runtime = await create(scripted([], agent, models(script)));
    await runToEnd(runtime, "One.");
    const events = await runToEnd(runtime, "Two.");
    expect(eventsOf(events, "compaction.ended")).toEqual([
      expect.objectContaining({ outcome: "failed", message: expect.any(String) }),
    ]);
    expect(events.at(-1)).toMatchObject({ reason: "done" });
    expect(await runtime.summarize()).toMatchObject({ outcome: "failed" });
    expect(await rolesOf(runtime)).toEqual(["user", "assistant", "user", "assistant"]);
  });

  test("of an empty history is skipped with a reason", async () => {
    await using runtime = await create(scripted([{ text: "Yes.", repeat: true }]));
    expect(await runtime.summarize()).toEqual({
      outcome: "skipped",
      message: expect.stringContaining("nothing"),
    });
    expect((await runToEnd(runtime, "Go.")).at(-1)).toMatchObject({ reason: "done" });
  });

  test("in the middle of a turn keeps calls and results together", async () => {
    const long = (n: number) => ({
      tool_calls: [{ tool: "think", input: { thought: `${n} `.repeat(150) } }],
    });
    const script = [
      { when: { last_user_contains: SUMMARY }, text: "Much was thought." },
      {
        when: { last_user_contains: "Much was thought." },
        expect: { last_role: "tool", messages_at_least: 3, tool_error: false },
        text: "Done.",
      },
      ...[1, 2, 3, 4, 5].map(long),
      { ...long(6), ...full },
    ];
    await using runtime = await create(scripted([], THINKS, models(script)));
    const events = await runToEnd(runtime, "Think.");
    expect(events.at(-1)).toMatchObject({ type: "turn.ended", reason: "done" });
    const [ended] = eventsOf(events, "compaction.ended");
    expect(ended).toMatchObject({ outcome: "applied", kept_from: expect.any(String) });
    const kept = eventsOf(events, "message.end").find(
      ({ message_id }) => message_id === ended?.kept_from,
    );
    expect(kept?.stop_reason).toBe("tool_calls");
  });

  test("follows a context overflow, and the request is repeated a bounded number of times", async () => {
    const error = { cause: "context_overflow", message: "Too long." };
    const summary = { when: { last_user_contains: SUMMARY }, text: "They greeted." };
    const script = [
      summary,
      { when: { last_user_contains: "Two.", messages_at_least: 3 }, error, repeat: true },
      { when: { last_user_contains: "Two." }, text: "Now it fits." },
      { text: "Hello." },
    ];
    await using runtime = await create(scripted([], {}, models(script)));
    await runToEnd(runtime, "One.");
    const events = await runToEnd(runtime, "Two.");
    expect(eventsOf(events, "compaction.started").map(({ cause }) => cause)).toEqual(["overflow"]);
    expect(eventsOf(events, "message.end").at(-1)?.text).toBe("Now it fits.");
    const never = [
      summary,
      { when: { last_user_contains: "Two." }, error, repeat: true },
      { text: "Hello." },
    ];
    await using hopeless = await create(scripted([], {}, models(never)));
    await runToEnd(hopeless, "One.");
    const failed = await runToEnd(hopeless, "Two.");
    expect(failed.at(-1)).toMatchObject({ type: "turn.ended", reason: "error" });
    expect(eventsOf(failed, "compaction.started").length).toBeLessThanOrEqual(2);
  });

  test("follows its instructions, and a second summary replaces the first", async () => {
    const script = [
      {
        when: { last_user_contains: [SUMMARY, "Mind the ids.", "Summary of what came before"] },
        text: "Two in one.",
      },
      { when: { last_user_contains: [SUMMARY, "Mind the ids."] }, text: "The first." },
      { text: "Yes.", repeat: true },
    ];
    await using runtime = await create(scripted([], {}, models(script)));
    for (const text of ["One.", "Two."]) await runToEnd(runtime, text);
    expect(await runtime.summarize("Mind the ids.")).toMatchObject({ outcome: "applied" });
    for (const text of ["Three.", "Four."]) await runToEnd(runtime, text);
    expect(await runtime.summarize("Mind the ids.")).toMatchObject({ outcome: "applied" });
    const { messages } = await runtime.transcript();
    expect(messages.flatMap((each) => (each.role === "summary" ? [each.text] : []))).toEqual([
      "The first.",
      "Two in one.",
    ]);
  });
});
