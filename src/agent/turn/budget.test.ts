import { expect, test } from "vitest";
import { AgentState } from "#agent/state/agent-state.ts";
import { ManualClock } from "#base/manual-clock.ts";
import type { AgentEvent, AgentEventBody } from "#contract/agent/events.ts";
import type { RunLimits } from "#contract/agent/spec.ts";
import type { ModelUsage } from "#model/model.ts";
import { Questions } from "./approvals.ts";
import { Budget } from "./budget.ts";

const SESSION = "ses_0000000000000001";

function openBudget(limits: RunLimits, fold = new AgentState(SESSION)) {
  const clock = new ManualClock();
  const emit = (body: AgentEventBody) =>
    // The fold reads nothing of what is added to every event.
    fold.apply({ ...body, at: "", session_id: SESSION } as AgentEvent);
  const questions = new Questions({ fold, emit, clock }, false);
  const budget = new Budget({ fold, clock, questions, limits });
  const spend = (usage: ModelUsage, subagent_id?: string) =>
    emit({
      type: "usage.updated",
      ...budget.describe("m", usage),
      context_tokens: 0,
      context_limit: null,
      subagent_id,
    });
  return { budget, clock, fold, questions, emit, spend };
}

const tokens = (input_tokens: number, cost: number | null = 0) => ({
  input_tokens,
  output_tokens: 0,
  cost,
});

test("what sub-agents use is used by all", () => {
  const { budget, spend, fold } = openBudget({ max_tokens: 100 });
  spend(tokens(60));
  expect(budget.exhausted()).toBeUndefined();
  spend(tokens(40), "sub_1");
  expect(budget.exhausted()).toMatchObject({ limit: "max_tokens" });
  expect(fold.talk.usage.input_tokens).toBe(100);
});

test("a price that is not known leaves the sum of those that are", () => {
  const { budget, spend, fold } = openBudget({ max_cost: 1 });
  spend(tokens(1, 0.6));
  spend(tokens(1, null));
  expect(fold.talk.usage.cost).toBe(0.6);
  expect(budget.exhausted()).toBeUndefined();
  spend(tokens(1, 0.4));
  expect(budget.exhausted()).toMatchObject({ limit: "max_cost" });
});

test("time is counted while anybody works, once, and not while people are waited for", () => {
  const { budget, clock, questions, emit, fold } = openBudget({ max_time_ms: 1000 });
  clock.advance(5000);
  expect(budget.activeMs).toBe(0);
  const own = budget.work();
  const sub = budget.work();
  clock.advance(300);
  own[Symbol.dispose]();
  clock.advance(300);
  expect(budget.activeMs).toBe(600);
  const asker = { emit, subagent_id: undefined, signal: new AbortController().signal };
  void questions.approve({ kind: "max_iterations", message: "?" }, asker);
  clock.advance(60_000);
  expect([budget.activeMs, budget.exhausted()]).toEqual([600, undefined]);
  const id = fold.talk.approvals[0]?.approval_id ?? "";
  questions.answerApproval(id, { decision: "approve" });
  clock.advance(399);
  expect(budget.exhausted()).toBeUndefined();
  clock.advance(1);
  expect(budget.exhausted()).toMatchObject({ limit: "max_time" });
  sub[Symbol.dispose]();
  clock.advance(9000);
  expect(budget.activeMs).toBe(1000);
});

test("a later life goes on counting from what the log says", () => {
  const first = openBudget({});
  const work = first.budget.work();
  first.clock.advance(700);
  first.spend(tokens(10));
  work[Symbol.dispose]();
  const { budget, clock } = openBudget({ max_time_ms: 1000 }, first.fold);
  expect(budget.activeMs).toBe(700);
  using _work = budget.work();
  clock.advance(300);
  expect(budget.exhausted()).toMatchObject({ limit: "max_time" });
});
