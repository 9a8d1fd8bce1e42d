import { expect, test } from "vitest";
import type { ApprovalItem, QuestionItem } from "#contract/conversation/items.ts";
import { describeAnswer } from "./question-words.ts";

const placed = { key: "q", at: "2026-01-01T00:00:00.000Z", position: undefined };
const question = (answer: QuestionItem["answer"]): QuestionItem => ({
  ...placed,
  ...{ kind: "question", answer, asked: { elicitation_id: "q", message: "Which?", schema: {} } },
});

test("a question is shown with its answer", () => {
  const answers: QuestionItem["answer"][] = [
    undefined,
    { action: "accept", content: { color: "red" } },
    { action: "accept", content: { color: "red", size: 3 } },
    { action: "decline", content: undefined },
  ];
  expect(answers.map((answer) => describeAnswer(question(answer)))).toEqual([
    "Waiting for an answer below",
    "Answered: red",
    "Answered: color = red, size = 3",
    "Declined",
  ]);
});

test("a request to continue is shown with its decision", () => {
  const approval = (decision: "approve" | "reject"): ApprovalItem => ({
    ...{ ...placed, kind: "approval", answer: { decision, reason: undefined, by: "user" } },
    asked: { approval_id: "q", kind: "max_iterations", message: "Continue?" },
  });
  expect(describeAnswer(approval("approve"))).toBe("Allowed to continue");
  expect(describeAnswer(approval("reject"))).toBe("Stopped here");
});
