import fc from "fast-check";
import { expect, test } from "vitest";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { Runtime } from "#contract/runtime/runtime.ts";
import { shareEmbeddedPlace } from "#test/harness/embedded-place.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { collect, eventsOf, inline, say, scripted } from "#test/harness/runtimes.ts";

/** Whatever a model says and whatever people do meanwhile: a turn has one end, and the history is whole. */

const place = shareEmbeddedPlace();

const TOOLS = [
  { tool: "think", input: { thought: "x" } },
  { tool: "read_file", input: { path: "nothing" } },
  { tool: "write_file", input: { path: "random.txt", content: "x" } },
  { tool: "user_prompt", input: { message: "Which?" } },
  { tool: "transfer_task", input: { agent: "helper", task: "Help." } },
  { tool: "start_background_agent", input: { agent: "helper", task: "Help." } },
  { tool: "handoff", input: { agent: "helper" } },
  { tool: "nothing", input: {} },
  { tool: "think", raw: "{" },
];

const step = fc.oneof(
  fc.record({ text: fc.constant("Yes."), delay_ms: fc.constantFrom(0, 3) }),
  fc.record({ deltas: fc.constant(["a", "b", "c"]), every_ms: fc.constantFrom(0, 2) }),
  fc.record({
    text: fc.constant("I call."),
    tool_calls: fc.array(fc.constantFrom(...TOOLS), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ error: fc.constantFrom({ cause: "refused" }, { cause: "context_overflow" }) }),
  fc.record({ text: fc.constant("Half"), cut: fc.constant(true as const) }),
  fc.record({
    tool_calls: fc.array(fc.constantFrom(...TOOLS), { minLength: 1, maxLength: 2 }),
    cut: fc.constant(true as const),
  }),
);

const deed = fc.record({
  after: fc.nat(25),
  kind: fc.constantFrom(
    ...(["interrupt", "steer", "followup", "send", "approve", "reject", "summarize"] as const),
  ),
});

function teamOf(steps: readonly object[], helper: readonly object[], more: object): string {
  const agent = {
    toolsets: ["think", "filesystem", "user_prompt", "background_agents"].map((type) => ({ type })),
    sub_agents: ["helper"],
    handoffs: ["helper"],
    fallback: { models: [], retries: 0 },
    ...more,
  };
  const [, root] = Object.entries(JSON.parse(scripted([], agent)).agents)[0] ?? [];
  const script = (own: readonly object[]) => [...own, { text: "Done.", repeat: true }];
  return JSON.stringify({
    agents: {
      root,
      helper: {
        model: "help",
        description: "Helps.",
        toolsets: [{ type: "think" }, { type: "filesystem" }],
        fallback: { models: [], retries: 0 },
      },
    },
    models: {
      main: { provider: "scripted", script: script(steps) },
      help: { provider: "scripted", script: script(helper) },
    },
  });
}

/** What people do may be refused; that is an answer too. */
async function act(runtime: Runtime, kind: string): Promise<void> {
  const { approvals, elicitations } = await runtime.snapshot();
  if (kind === "interrupt") await runtime.interrupt();
  if (kind === "steer") await runtime.steer({ messages: say("Left.") });
  if (kind === "followup") await runtime.followUp({ messages: say("Then.") });
  if (kind === "send") await runtime.send(say("Now."));
  if (kind === "summarize") await runtime.summarize();
  if (kind !== "approve" && kind !== "reject") return;
  for (const { approval_id } of approvals) await runtime.resume({ approval_id, decision: kind });
  for (const { elicitation_id } of elicitations)
    await runtime.answerElicitation({ elicitation_id, action: "decline" });
}

const EXPECTED = new Set(["busy", "nothing_running", "nothing_pending", "queue_full"]);

async function tryAct(runtime: Runtime, kind: string): Promise<void> {
  try {
    await act(runtime, kind);
  } catch (error) {
    // Everything else is a bug.
    if (!EXPECTED.has((error as { readonly code?: string }).code ?? "")) throw error;
  }
}

/** Answers and follows until nothing is to be done. */
async function settle(runtime: Runtime): Promise<AnyEvent[]> {
  return await waitFor("it to be idle", async () => {
    const { activity, queue } = await runtime.snapshot();
    if (activity === "waiting") await tryAct(runtime, "reject");
    const events = await collect(runtime.events({ follow: false }));
    const started = eventsOf(events, "subagent.started").length;
    const isOver = eventsOf(events, "subagent.ended").length === started;
    return (
      activity === "idle" && isOver && (queue.followup.depth === 0 || isLeft(events)) && events
    );
  });
}

/** What waits behind a turn that did not end by itself goes on waiting. */
function isLeft(events: readonly AnyEvent[]): boolean {
  const last = eventsOf(events, "turn.ended").at(-1);
  return last !== undefined && last.reason !== "done";
}

function expectOrder(events: readonly AnyEvent[]): void {
  let open: string | undefined;
  for (const event of events) {
    if (event.type === "turn.started") {
      expect(open).toBeUndefined();
      open = event.turn_id;
    }
    if (event.type !== "turn.ended") continue;
    expect(event.turn_id).toBe(open);
    open = undefined;
  }
  expect(open).toBeUndefined();
}

function expectEnded(events: readonly AnyEvent[]): void {
  const pairs = [
    ["message.start", "message.end", "message_id"],
    ["tool.call.end", "tool.result", "call_id"],
    ["approval.requested", "approval.resolved", "approval_id"],
    ["elicitation.requested", "elicitation.resolved", "elicitation_id"],
  ] as const;
  const cut = new Set(
    eventsOf(events, "message.end").flatMap((each) => (each.interrupted ? [each.message_id] : [])),
  );
  for (const [begun, ended, field] of pairs) {
    const idsOf = (type: string) =>
      events
        .filter((event) => event.type === type)
        // A call of an answer that broke off was never made.
        .filter((event) => type !== "tool.call.end" || !cut.has(Reflect.get(event, "message_id")))
        .map((event) => String(Reflect.get(event, field)))
        .toSorted();
    expect(idsOf(ended)).toEqual(idsOf(begun));
  }
}

test("every turn has exactly one end, and everything that began in it has ended before", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 6 }),
      fc.array(step, { maxLength: 2 }),
      fc.record({
        deeds: fc.array(deed, { maxLength: 6 }),
        headless: fc.boolean(),
        max_iterations: fc.constantFrom(0, 2),
      }),
      async (steps, helper, { deeds, headless, max_iterations }) => {
        await using runtime = await place.backend.create({
          source: inline(teamOf(steps, helper, { max_iterations })),
          working_dir: place.workDir,
          headless,
        });
        await runtime.send(say("Go."));
        for (const { after, kind } of deeds) {
          for (let n = 0; n < after; n += 1) await Promise.resolve();
          await tryAct(runtime, kind);
        }
        const events = await settle(runtime);
        expectOrder(events);
        expectEnded(events);
        expect((await runtime.snapshot()).queue.steer.depth === 0 || isLeft(events)).toBe(true);
      },
    ),
    { numRuns: 120 },
  );
});
