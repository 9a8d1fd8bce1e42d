import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildMessages } from "#agent/turn/model-messages.ts";
import { copyHistory, repairCut } from "#agent/turn/repair.ts";
import { AgentEvent, type AgentEventBody } from "#contract/agent/events.ts";
import type { SessionEvent } from "#contract/events.ts";
import { defined } from "#contract/values/defined.ts";
import type { ModelMessage } from "#model/model.ts";
import { AgentState } from "./agent-state.ts";

const SESSION = "ses_0000000000000001";
const AT = "2026-01-01T00:00:00.000Z";
const PLACE = { title: "T", work_dir: "/", events_tail: 0 };

type Line = AgentEvent | SessionEvent;

/** What may happen to a session, in the order in which a worker would write it down. */
type Act =
  | { readonly kind: "say"; readonly text: string }
  | {
      readonly kind: "answer";
      readonly text: string;
      readonly calls: number;
      readonly cut: boolean;
    }
  | { readonly kind: "results"; readonly most: number }
  | {
      readonly kind:
        | "ask"
        | "answered"
        | "elicit"
        | "end"
        | "error"
        | "kill"
        | "subagent"
        | "stray";
    }
  | { readonly kind: "compact"; readonly keep: boolean; readonly applied: boolean }
  | { readonly kind: "queue"; readonly key: string };

const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("say" as const), text: fc.string({ minLength: 1 }) }),
    fc.record({
      kind: fc.constant("answer" as const),
      text: fc.string(),
      calls: fc.nat(3),
      cut: fc.boolean(),
    }),
    fc.record({ kind: fc.constant("results" as const), most: fc.nat(3) }),
    fc.record({
      kind: fc.constantFrom(
        ...(["ask", "answered", "elicit", "end", "error", "kill", "subagent", "stray"] as const),
      ),
    }),
    fc.record({
      kind: fc.constant("compact" as const),
      keep: fc.boolean(),
      applied: fc.boolean(),
    }),
    fc.record({ kind: fc.constant("queue" as const), key: fc.constantFrom("a", "b", "c") }),
  ),
  { maxLength: 40 },
);

/** Writes a log as a worker does: it knows its own state by folding what it has written. */
class Writer {
  readonly log: Line[] = [];
  readonly fold = new AgentState(SESSION);
  #next = 0;

  emit = (body: AgentEventBody): void => {
    const { turn_id } = this.fold;
    const event = AgentEvent.parse({
      ...defined({ turn_id }),
      ...body,
      at: AT,
      session_id: SESSION,
    });
    this.#add(event);
  };

  do(act: Act): void {
    if (act.kind === "kill") this.#kill();
    else if (act.kind === "say") this.#say(act.text);
    else if (act.kind === "answer") this.#answer(act);
    else if (act.kind === "results") this.#results(act.most);
    else if (act.kind === "compact") this.#compact(act);
    else if (act.kind === "queue") this.#queue(act.key);
    else this.#little(act.kind);
  }

  #id(prefix: string): string {
    this.#next += 1;
    return `${prefix}_${this.#next}`;
  }

  #add(event: Line): void {
    this.log.push(event);
    this.fold.apply(event);
  }

  #say(text: string): void {
    if (this.fold.turn_id === undefined)
      this.emit({ type: "turn.started", turn_id: this.#id("trn") });
    const message_id = this.#id("msg");
    this.emit({
      type: "message.user",
      message_id,
      content: [{ type: "text", text }],
      origin: "message",
    });
  }

  #answer({ text, calls, cut }: Extract<Act, { kind: "answer" }>): void {
    const message_id = this.#id("msg");
    this.emit({ type: "message.start", message_id, model: "m" });
    this.emit({ type: "message.delta", message_id, text });
    for (let n = 0; n < calls; n += 1) {
      const call_id = this.#id("cal");
      this.emit({ type: "tool.call.start", message_id, call_id, tool: "t" });
      this.emit({ type: "tool.call.end", message_id, call_id, tool: "t", input: {} });
    }
    const how = cut ? { interrupted: true } : {};
    this.emit({ type: "message.end", message_id, model: "m", text, stop_reason: "stop", ...how });
  }

  #results(most: number): void {
    for (const { call_id } of this.fold.conversation.openCalls.slice(0, most))
      this.emit({ type: "tool.result", call_id, tool: "t", output: call_id, is_error: false });
  }

  #compact({ keep, applied }: Extract<Act, { kind: "compact" }>): void {
    if (this.fold.conversation.openCalls.length > 0) return;
    this.emit({ type: "compaction.started", cause: "context" });
    const { items } = this.fold.conversation.context;
    const kept = items.findLast((item) => item.kind === "user" || item.kind === "assistant");
    const from = keep && kept !== undefined ? { kept_from: kept.message_id } : {};
    if (applied) this.emit({ type: "compaction.ended", outcome: "applied", summary: "S", ...from });
    else this.emit({ type: "compaction.ended", outcome: "failed", message: "no" });
  }

  #queue(key: string): void {
    const queue_id = this.#id("que");
    const added = { queue_id, kind: "followup" as const, content: [], idempotency_key: key };
    this.emit({ type: "queue.changed", steer: 0, followup: 1, added });
    if (key === "c") return;
    this.emit({
      type: "message.user",
      message_id: this.#id("msg"),
      content: [{ type: "text", text: key }],
      origin: "followup",
      queue_id,
    });
  }

  #little(kind: "ask" | "answered" | "elicit" | "end" | "error" | "subagent" | "stray"): void {
    const approval_id = this.fold.talk.approvals[0]?.approval_id;
    if (kind === "ask")
      this.emit({
        type: "approval.requested",
        approval_id: this.#id("apr"),
        kind: "tool",
        message: "?",
      });
    else if (kind === "answered" && approval_id !== undefined)
      this.emit({ type: "approval.resolved", approval_id, decision: "approve", by: "user" });
    else if (kind === "elicit") {
      const elicitation_id = this.#id("eli");
      this.emit({ type: "elicitation.requested", elicitation_id, message: "?", schema: {} });
    } else if (kind === "error") this.emit({ type: "error", code: "model_failed", message: "no" });
    else if (kind === "subagent") this.#subagent();
    else if (kind === "stray")
      this.emit({ type: "tool.result", call_id: "none", tool: "t", output: "", is_error: true });
    else if (kind === "end" && this.fold.turn_id !== undefined) this.#end();
  }

  /** Its own conversation is nobody else's. */
  #subagent(): void {
    const subagent_id = this.#id("sub");
    this.emit({ type: "subagent.started", subagent_id, name: "n", task: "t", background: false });
    const message_id = this.#id("msg");
    this.emit({ type: "message.start", subagent_id, message_id, model: "m" });
    const call_id = this.#id("cal");
    this.emit({ type: "tool.call.end", subagent_id, message_id, call_id, tool: "t", input: {} });
    const said = { message_id, model: "m", text: "hidden", stop_reason: "stop" } as const;
    this.emit({ type: "message.end", subagent_id, ...said });
  }

  #end(): void {
    this.#results(Number.POSITIVE_INFINITY);
    this.emit({ type: "turn.ended", reason: "done" });
  }

  #kill(): void {
    const state = { kind: "exited", exit_code: 137, signal: "KILL", reason: "exited" };
    // As much of a host's own event as the fold reads.
    this.#add({ type: "session.exited", at: AT, session_id: SESSION, state } as never);
    this.#add({ type: "session.resumed", at: AT, session_id: SESSION, life: 2 } as never);
    repairCut(this.fold, this.emit);
    const info = { name: "root", model: "m", description: "", context_limit: null };
    this.emit({ type: "agent.info", ...info, model_overrides: {} });
  }
}

function write(all: readonly Act[]): Writer {
  const writer = new Writer();
  for (const act of all) writer.do(act);
  return writer;
}

function foldOf(log: readonly Line[]): AgentState {
  const fold = new AgentState(SESSION);
  for (const event of log) fold.apply(event);
  return fold;
}

function messagesOf({ conversation }: AgentState, most = 0): ModelMessage[] {
  return buildMessages({
    system: "",
    ...conversation.context,
    num_history_items: most,
    supports_images: true,
    readBlob: () => undefined,
  });
}

/** Every call is answered once, directly behind the message that made it. */
function expectPaired(messages: readonly ModelMessage[]): void {
  for (const [at, message] of messages.entries()) {
    if (message.role === "assistant") {
      const calls = message.parts.flatMap((part) =>
        part.type === "tool_call" ? [part.call_id] : [],
      );
      const next = messages[at + 1];
      const answered = next?.role === "tool" ? next.results.map(({ call_id }) => call_id) : [];
      expect(answered).toEqual(calls);
    }
    if (message.role === "tool") expect(messages[at - 1]?.role).toBe("assistant");
  }
}

describe("an agent session as its events tell it", () => {
  test("every prefix of a log can be read, and what a model is given has its calls and results in pairs", () => {
    fc.assert(
      fc.property(acts, fc.nat(), fc.nat(6), (all, cut, most) => {
        const { log } = write(all);
        const fold = foldOf(log.slice(0, cut % (log.length + 1)));
        expect(fold.snapshot(PLACE).transcript.length).toBe(fold.conversation.items.length);
        expectPaired(messagesOf(fold));
        expectPaired(messagesOf(fold, most));
      }),
      { numRuns: 300 },
    );
  });

  test("looking at it in the middle changes nothing, and neither does the way through JSON", () => {
    fc.assert(
      fc.property(acts, fc.nat(), (all, cut) => {
        const { log } = write(all);
        const at = cut % (log.length + 1);
        const halves = foldOf(log.slice(0, at));
        halves.snapshot(PLACE);
        messagesOf(halves);
        for (const event of log.slice(at)) halves.apply(JSON.parse(JSON.stringify(event)));
        const whole = foldOf(log);
        expect(halves.snapshot(PLACE)).toEqual(whole.snapshot(PLACE));
        expect(messagesOf(halves)).toEqual(messagesOf(whole));
      }),
      { numRuns: 200 },
    );
  });

  test("whatever a killed worker left open is closed by the next one, and the turn has one end", () => {
    fc.assert(
      fc.property(acts, (all) => {
        const { log, fold } = write([...all, { kind: "kill" }]);
        expect(fold.conversation.openCalls).toEqual([]);
        expect(fold.conversation.answer).toBeUndefined();
        expect(fold.snapshot(PLACE)).toMatchObject({
          // Waiting messages are taken up at once; a turn that a crash ended holds none back.
          activity: fold.talk.queue.length > 0 ? "running" : "idle",
          turn_id: null,
          approvals: [],
          elicitations: [],
          partial: null,
        });
        expect(fold.subagents.size).toBe(0);
        const count = (type: string) => log.filter((event) => event.type === type).length;
        expect(count("subagent.ended")).toBe(count("subagent.started"));
        expect(count("turn.ended")).toBe(count("turn.started"));
      }),
      { numRuns: 200 },
    );
  });

  test("what a sub-agent says is not part of the conversation", () => {
    const { fold } = write([{ kind: "say", text: "One." }, { kind: "subagent" }]);
    expect(JSON.stringify(messagesOf(fold))).not.toContain("hidden");
    expect(fold.conversation.openCalls).toEqual([]);
  });

  test("a summary stands for what came before what is kept, and a failed one for nothing", () => {
    const before: Act[] = [
      { kind: "say", text: "One." },
      { kind: "answer", text: "Yes.", calls: 1, cut: false },
      { kind: "results", most: 1 },
      { kind: "answer", text: "Done.", calls: 0, cut: false },
    ];
    const untouched = messagesOf(write(before).fold);
    const failed = write([...before, { kind: "compact", keep: true, applied: false }]);
    expect(messagesOf(failed.fold)).toEqual(untouched);
    const kept = write([...before, { kind: "compact", keep: true, applied: true }]);
    expect(messagesOf(kept.fold).map(({ role }) => role)).toEqual(["system", "user", "assistant"]);
    const none = write([...before, { kind: "compact", keep: false, applied: true }]);
    expect(messagesOf(none.fold).map(({ role }) => role)).toEqual(["system", "user"]);
    expect(none.fold.transcript({ title: "T" }).total).toBe(5);
  });

  test("a fork gives a model the same to read, summaries and what they left included", () => {
    fc.assert(
      fc.property(acts, (all) => {
        // A call without a result gets one in the fork.
        const { fold } = write([...all, { kind: "results", most: 1000 }]);
        const fork = new Writer();
        const { items } = fold.conversation;
        const blobs = { get: () => undefined, put: () => "" };
        copyHistory({ items, blobs }, { fold: fork.fold, emit: fork.emit, blobs });
        expect(messagesOf(fork.fold)).toEqual(messagesOf(fold));
      }),
      { numRuns: 200 },
    );
  });

  test("a message that was read has left the queue, and its key is known", () => {
    const { fold } = write([
      { kind: "queue", key: "a" },
      { kind: "queue", key: "c" },
    ]);
    expect(fold.queue().followup.depth).toBe(1);
    expect(["a", "c", "b"].map((key) => fold.keys.has(key))).toEqual([true, true, false]);
  });
});
