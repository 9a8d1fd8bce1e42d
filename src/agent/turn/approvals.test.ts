import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AgentState } from "#agent/state/agent-state.ts";
import { ManualClock } from "#base/manual-clock.ts";
import type { AgentEvent, AgentEventBody } from "#contract/agent/events.ts";
import { type Asker, type Decision, Questions } from "./approvals.ts";

const SESSION = "ses_0000000000000001";

interface Setting {
  readonly isHeadless?: boolean;
  readonly fold?: AgentState;
}

function openQuestions({ isHeadless = false, fold = new AgentState(SESSION) }: Setting = {}) {
  const events: AgentEventBody[] = [];
  const clock = new ManualClock();
  const emit = (body: AgentEventBody) => {
    events.push(body);
    // The fold reads nothing of what is added to every event.
    fold.apply({ ...body, at: "", session_id: SESSION } as AgentEvent);
  };
  const questions = new Questions({ fold, emit, clock }, isHeadless);
  const stop = new AbortController();
  const asker: Asker = { emit, subagent_id: undefined, signal: stop.signal };
  return { questions, asker, events, clock, fold, stop };
}

const about = (call_id: string) =>
  ({ kind: "tool", call_id, tool: "t", input: {}, message: "May I?" }) as const;
const question = (call_id: string) => ({ call_id, message: "Which?", schema: {} });

describe("a question", () => {
  test("has its waiter before anybody can see it", async () => {
    const { questions, asker, fold } = openQuestions();
    const emit = (body: AgentEventBody) => {
      asker.emit(body);
      if (body.type === "approval.requested")
        questions.answerApproval(body.approval_id, { decision: "approve" });
      if (body.type === "elicitation.requested")
        questions.answerElicitation(body.elicitation_id, { action: "decline" });
    };
    const eager = { ...asker, emit };
    expect(await questions.approve(about("c"), eager)).toEqual({ decision: "approve", by: "user" });
    expect(await questions.elicit(question("d"), eager)).toEqual({ action: "decline" });
    expect([
      fold.talk.approvals.length,
      fold.talk.elicitations.length,
      questions.isWaiting,
    ]).toEqual([0, 0, false]);
  });

  test("is answered once: late, second and unknown answers are nothing_pending", async () => {
    const { questions, asker, fold, events } = openQuestions();
    const asked = questions.approve(about("c"), asker);
    const id = fold.talk.approvals[0]?.approval_id ?? "";
    expect(() => questions.answerApproval("apr_other", { decision: "approve" })).toThrow(
      expect.objectContaining({ code: "nothing_pending" }),
    );
    // An id of one kind is none of the other.
    expect(() => questions.answerElicitation(id, { action: "accept" })).toThrow(
      expect.objectContaining({ code: "nothing_pending" }),
    );
    questions.answerApproval(id, { decision: "reject", reason: "no" });
    expect(() => questions.answerApproval(id, { decision: "approve" })).toThrow(
      expect.objectContaining({ code: "nothing_pending" }),
    );
    expect(await asked).toEqual({ decision: "reject", reason: "no", by: "user" });
    expect(events.filter(({ type }) => type === "approval.resolved")).toHaveLength(1);
  });

  test("many at once are answered by their ids, in any order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.nat(20), { minLength: 2, maxLength: 8 }),
        fc.infiniteStream(fc.nat(100)),
        async (ids, order) => {
          const { questions, asker, fold } = openQuestions();
          const asked = ids.map((id) => questions.elicit(question(`c${id}`), asker));
          expect(fold.talk.elicitations.length).toBe(ids.length);
          const pending = fold.talk.elicitations
            .map((each) => ({ each, at: order.next().value ?? 0 }))
            .toSorted((a, b) => a.at - b.at);
          for (const { each } of pending)
            questions.answerElicitation(each.elicitation_id, {
              action: "accept",
              content: { call: each.call_id ?? "" },
            });
          const answers = await Promise.all(asked);
          expect(answers.map(({ content }) => content?.call)).toEqual(ids.map((id) => `c${id}`));
        },
      ),
      { numRuns: 50 },
    );
  });

  test("an answer and an interrupt have one winner, and one event says who", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(6), fc.nat(6), async (answerAfter, interruptAfter) => {
        const { questions, asker, fold, events, stop } = openQuestions();
        const asked = questions.approve(about("c"), asker);
        const id = fold.talk.approvals[0]?.approval_id ?? "";
        let isTaken = false;
        const answer = async () => {
          for (let n = 0; n < answerAfter; n += 1) await Promise.resolve();
          if (fold.talk.approvals.every((asked) => asked.approval_id !== id)) return;
          questions.answerApproval(id, { decision: "approve" });
          isTaken = true;
        };
        const interrupt = async () => {
          for (let n = 0; n < interruptAfter; n += 1) await Promise.resolve();
          stop.abort();
        };
        await Promise.all([answer(), interrupt()]);
        const decision: Decision = await asked;
        expect(decision.by).toBe(isTaken ? "user" : "interrupt");
        const resolved = events.filter(({ type }) => type === "approval.resolved");
        expect(resolved).toEqual([expect.objectContaining({ by: decision.by })]);
        expect(questions.isWaiting).toBe(false);
      }),
    );
  });

  test("nobody is waited for where nobody is, and both sides of it are told", async () => {
    const { questions, asker, events } = openQuestions({ isHeadless: true });
    expect(await questions.approve(about("c"), asker)).toMatchObject({
      decision: "reject",
      by: "headless",
    });
    expect(await questions.elicit(question("d"), asker)).toEqual({ action: "decline" });
    expect(events.map(({ type }) => type)).toEqual([
      "approval.requested",
      "approval.resolved",
      "elicitation.requested",
      "elicitation.resolved",
    ]);
    expect(events[3]).toMatchObject({ by: "headless" });
  });

  test("one that comes behind an interrupt is over at once", async () => {
    const { questions, asker, stop } = openQuestions();
    stop.abort();
    expect(await questions.approve(about("c"), asker)).toMatchObject({ by: "interrupt" });
    expect(await questions.elicit(question("d"), asker)).toEqual({ action: "cancel" });
  });

  test("a later life asks the same question under the same id and says nothing twice", async () => {
    const first = openQuestions();
    void first.questions.approve(about("c"), first.asker);
    const id = first.fold.talk.approvals[0]?.approval_id ?? "";
    const { questions, asker, events } = openQuestions({ fold: first.fold });
    const asked = questions.approve(about("c"), asker);
    expect(events).toEqual([]);
    questions.answerApproval(id, { decision: "approve" });
    expect(await asked).toMatchObject({ decision: "approve" });
  });

  test("an answer that comes before a later life has got back to its question is kept for it", async () => {
    const first = openQuestions();
    void first.questions.approve(about("c"), first.asker);
    void first.questions.elicit(question("c"), first.asker);
    const approval = first.fold.talk.approvals[0]?.approval_id ?? "";
    const elicitation = first.fold.talk.elicitations[0]?.elicitation_id ?? "";
    const { questions, asker, events } = openQuestions({ fold: first.fold });
    questions.answerApproval(approval, { decision: "approve" });
    questions.answerElicitation(elicitation, { action: "accept", content: { a: 1 } });
    expect(() => questions.answerApproval(approval, { decision: "reject" })).toThrow(
      expect.objectContaining({ code: "nothing_pending" }),
    );
    expect(await questions.approve(about("c"), asker)).toMatchObject({ decision: "approve" });
    expect(await questions.elicit(question("c"), asker)).toMatchObject({ content: { a: 1 } });
    expect(events.map(({ type }) => type)).toEqual(["approval.resolved", "elicitation.resolved"]);
    // It counts once.
    void questions.approve(about("c"), asker);
    expect(events.at(-1)?.type).toBe("approval.requested");
  });

  test("the time that people take is counted once, however many are asked", async () => {
    const { questions, asker, clock, fold } = openQuestions();
    const one = questions.approve(about("c"), asker);
    clock.advance(100);
    const two = questions.approve(about("d"), asker);
    clock.advance(50);
    const [first = "", second = ""] = fold.talk.approvals.map((asked) => asked.approval_id);
    questions.answerApproval(first, { decision: "approve" });
    clock.advance(25);
    expect(questions.waitedMs).toBe(175);
    questions.answerApproval(second, { decision: "approve" });
    await Promise.all([one, two]);
    clock.advance(1000);
    expect(questions.waitedMs).toBe(175);
  });
});
