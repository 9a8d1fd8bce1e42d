import fc from "fast-check";
import { AgentState } from "#agent/state/agent-state.ts";
import { repairCut } from "#agent/turn/repair.ts";
import { AgentEvent, type AgentEventBody } from "#contract/agent/events.ts";
import type { AgentSnapshot } from "#contract/agent/views.ts";
import type { SessionEvent } from "#contract/events.ts";
import { defined } from "#contract/values/defined.ts";

const SESSION = "ses_0000000000000001";
const AT = "2026-01-01T00:00:00.000Z";
const PLACE = { title: "T", work_dir: "/", events_tail: 0 };

export type Line = AgentEvent | SessionEvent;

const piece = fc.constantFrom("One", " two", "\n", "\n\n", "- x", "```", "\n\nNext. ");

/** What may happen to a session. */
export const act = fc.oneof(
  fc.record({ kind: fc.constant("say" as const), text: fc.string({ minLength: 1 }) }),
  fc.record({
    kind: fc.constant("answer" as const),
    text: fc.oneof(
      fc.string(),
      fc.array(piece, { maxLength: 8 }).map((all) => all.join("")),
    ),
    reasoning: fc.string(),
    calls: fc.nat(3),
    how: fc.constantFrom("whole", "cut", "open"),
  }),
  fc.record({ kind: fc.constant("results" as const), most: fc.nat(3), failed: fc.boolean() }),
  fc.record({
    kind: fc.constantFrom(
      ...(["ask", "answered", "elicit", "told", "end", "error", "kill", "stray"] as const),
      ...(["subagent", "queue", "read", "info", "usage", "compact", "skip"] as const),
    ),
  }),
);
export type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;
type Answer = Extract<Act, { kind: "answer" }>;

/** Knows the session's state by applying its own events. */
class Writer {
  readonly log: Line[] = [];
  readonly fold = new AgentState(SESSION);
  #next = 0;

  readonly emit = (body: AgentEventBody): void => {
    const { turn_id, agent } = this.fold;
    const who = { ...defined({ turn_id }), agent };
    this.#add(AgentEvent.parse({ ...who, ...body, at: AT, session_id: SESSION }));
  };

  do(act: Act): void {
    if (!["queue", "usage", "kill", "subagent", "results"].includes(act.kind)) this.#endAnswer();
    if (["say", "answer", "ask", "elicit"].includes(act.kind) && this.fold.turn_id === undefined)
      this.emit({ type: "turn.started", turn_id: this.#id("trn") });
    if (act.kind === "say") this.#say(act.text);
    else if (act.kind === "answer") this.#answer(act);
    else if (act.kind === "results") this.#results(act.most, act.failed);
    else if (act.kind === "kill") this.#kill();
    else if (act.kind === "subagent") this.#subagent();
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
    const content = [{ type: "text" as const, text }];
    this.emit({ type: "message.user", message_id: this.#id("msg"), content, origin: "message" });
  }

  #answer({ text, reasoning, calls, how }: Answer): void {
    // A model is asked again when every call has its result.
    this.#results(this.fold.conversation.openCalls.length, false);
    const message_id = this.#id("msg");
    this.emit({ type: "message.start", message_id, model: "m" });
    if (reasoning !== "") {
      const thought = { message_id, reasoning_id: "r", text: reasoning };
      this.emit({ type: "reasoning.start", message_id, reasoning_id: "r" });
      this.emit({ type: "reasoning.delta", ...thought });
      this.emit({ type: "reasoning.end", ...thought });
    }
    const half = Math.floor(text.length / 2);
    this.emit({ type: "message.delta", message_id, text: text.slice(0, half) });
    this.emit({ type: "message.delta", message_id, text: text.slice(half) });
    for (let n = 0; n < calls; n += 1) {
      const call = { message_id, call_id: this.#id("cal"), tool: "t" };
      this.emit({ type: "tool.call.start", ...call });
      this.emit({ type: "tool.call.delta", ...call, text: "{" });
      this.emit({ type: "tool.call.end", ...call, input: { n } });
    }
    if (how === "open") return;
    const end = how === "cut" ? { interrupted: true } : {};
    this.emit({ type: "message.end", message_id, model: "m", text, stop_reason: "stop", ...end });
  }

  /** Nothing is said into the middle of an answer. */
  #endAnswer(): void {
    const { answer } = this.fold.conversation;
    if (answer === undefined) return;
    const { key: message_id, text } = answer;
    this.emit({ type: "message.end", message_id, model: "m", text, stop_reason: "stop" });
  }

  #results(most: number, is_error: boolean): void {
    for (const { call_id } of this.fold.conversation.openCalls.slice(0, most)) {
      this.emit({ type: "tool.output", call_id, tool: "t", text: "." });
      this.emit({ type: "tool.result", call_id, tool: "t", output: call_id, is_error });
    }
  }

  #little(kind: Exclude<Act["kind"], "say" | "answer" | "results" | "kill" | "subagent">): void {
    const approval_id = this.fold.talk.approvals[0]?.approval_id;
    const elicitation_id = this.fold.talk.elicitations[0]?.elicitation_id;
    const [open] = this.fold.conversation.openCalls;
    const [waiting] = this.fold.talk.queue;
    const content = [{ type: "text" as const, text: "later" }];
    const usage = { input_tokens: this.#next, output_tokens: 1, cost: null };
    const bodies: Record<typeof kind, AgentEventBody | undefined> = {
      ask: {
        ...{ type: "approval.requested", approval_id: this.#id("apr"), kind: "tool" },
        ...(open === undefined ? {} : { call_id: open.call_id, tool: "t", input: { n: 1 } }),
        message: "?",
      },
      answered:
        approval_id === undefined
          ? undefined
          : {
              ...{ type: "approval.resolved", approval_id, decision: "approve", by: "user" },
            },
      elicit: {
        ...{ type: "elicitation.requested", elicitation_id: this.#id("eli") },
        ...{ message: "?", schema: {} },
      },
      told:
        elicitation_id === undefined
          ? undefined
          : {
              ...{ type: "elicitation.resolved", elicitation_id, action: "accept", by: "user" },
            },
      error: { type: "error", code: "model_failed", message: "no" },
      end: this.fold.turn_id === undefined ? undefined : { type: "turn.ended", reason: "done" },
      stray: { type: "tool.result", call_id: "none", tool: "t", output: "", is_error: true },
      queue: {
        ...{ type: "queue.changed", steer: 0, followup: 1 },
        added: { queue_id: this.#id("que"), kind: "followup", content },
      },
      read:
        waiting === undefined
          ? undefined
          : {
              ...{ type: "message.user", message_id: this.#id("msg"), content, origin: "followup" },
              queue_id: waiting.queue_id,
            },
      info: this.#info(`agent${this.#next % 3}`),
      usage: {
        ...{ type: "usage.updated", model: "m", usage, total: usage },
        ...{ context_tokens: this.#next, context_limit: 1000, active_ms: 0 },
      },
      compact: { type: "compaction.ended", outcome: "applied", summary: "S" },
      skip: { type: "compaction.ended", outcome: "skipped" },
    };
    if (kind === "end") this.#results(Number.POSITIVE_INFINITY, true);
    const body = bodies[kind];
    if (body !== undefined) this.emit(body);
  }

  #info(name: string): AgentEventBody {
    const card = { name, model: `of ${name}`, description: "", context_limit: null };
    return { type: "agent.info", ...card, model_overrides: {} };
  }

  #subagent(): void {
    const subagent_id = this.#id("sub");
    const [open] = this.fold.conversation.openCalls;
    const by = open === undefined ? {} : { call_id: open.call_id };
    const sent = { name: "n", task: "t", background: false, ...by };
    this.emit({ type: "subagent.started", subagent_id, ...sent });
    const message_id = this.#id("msg");
    this.emit({ type: "message.start", subagent_id, message_id, model: "m" });
    const call = { message_id, call_id: this.#id("cal"), tool: "t" };
    this.emit({ type: "tool.call.end", subagent_id, ...call, input: {} });
    const said = { message_id, model: "m", text: "hidden", stop_reason: "stop" } as const;
    this.emit({ type: "message.end", subagent_id, ...said });
    const approval_id = this.#id("apr");
    const asked = { approval_id, kind: "tool", message: "?", call_id: call.call_id } as const;
    this.emit({ type: "approval.requested", subagent_id, ...asked });
  }

  #kill(): void {
    const state = { kind: "exited", exit_code: 137, signal: "KILL", reason: "exited" };
    // As much of a host's own event as anybody reads.
    this.#add({ type: "session.exited", at: AT, session_id: SESSION, state } as never);
    this.#add({ type: "session.resumed", at: AT, session_id: SESSION, life: 2 } as never);
    repairCut(this.fold, this.emit);
    this.emit(this.#info("root"));
  }
}

/** A log as a worker writes it. */
export function writeLog(acts: readonly Act[]): readonly Line[] {
  const writer = new Writer();
  for (const act of acts) writer.do(act);
  return writer.log;
}

export function snapshotOf(log: readonly Line[]): AgentSnapshot {
  const fold = new AgentState(SESSION);
  for (const event of log) fold.apply(event);
  return fold.snapshot(PLACE);
}
