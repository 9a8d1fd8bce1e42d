import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { activityOf } from "#contract/agent/agent-status.ts";
import { act, type Line, snapshotOf, writeLog } from "#test/harness/agent-log.ts";
import { applyEvent, emptyConversation } from "./conversation.ts";
import type { Conversation, Item } from "./items.ts";
import { addEarlier, fromSnapshot } from "./snapshot.ts";

const applyAll = (state: Conversation, log: readonly Line[]) => log.reduce(applyEvent, state);

/** What a snapshot tells as well. Times of calls, notices, questions and sub-agents are told by events alone. */
function told(state: Conversation) {
  const { turn_id, approvals, elicitations, queue, total, first } = state;
  const { is_cut: isCut } = state.status;
  const isIdle = activityOf(state.status) === "idle";
  return {
    items: state.main.items.flatMap((item) => tell(item, isCut)),
    activity: activityOf(state.status),
    turn_id: isIdle ? undefined : turn_id,
    approvals: isCut ? [] : approvals,
    elicitations: isCut ? [] : elicitations,
    ...{ queue, total, first, agent: state.agent, model: state.model, usage: state.usage },
    ...{ context_tokens: state.context_tokens, context_limit: state.context_limit },
  };
}

function tell(item: Item, isCut: boolean): object[] {
  const { kind, key, position } = item;
  switch (kind) {
    case "user":
      return [{ kind, key, position, content: item.content }];
    case "answer": {
      const { text, reasoning, isOpen, isInterrupted } = item;
      if (isOpen && isCut) return [];
      return [{ kind, key, position, text, reasoning, isOpen, isInterrupted }];
    }
    case "call": {
      const { input, result, status } = item;
      // A call that the model still writes is not in a snapshot, and neither is one of an answer that was cut.
      if (input === undefined || (status === "writing" && isCut)) return [];
      return [{ kind, key, position, input, result, status }];
    }
    case "summary":
    case "error":
      return [{ kind, key, position, text: item.text }];
    default:
      return [];
  }
}

describe("the conversation that the page shows", () => {
  test("a snapshot and the events behind it give what all events give", () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 30 }), fc.nat(), (acts, cut) => {
        const log = writeLog(acts);
        const at = cut % (log.length + 1);
        const opened = fromSnapshot(snapshotOf(log.slice(0, at)));
        const whole = applyAll(emptyConversation, log);
        expect(told(applyAll(opened, log.slice(at)))).toEqual(told(whole));
        // And both are what the server itself says.
        expect(told(fromSnapshot(snapshotOf(log)))).toEqual(told(whole));
      }),
      { numRuns: 500 },
    );
  });

  test("a snapshot may be taken anywhere around the death of a worker", () => {
    const answer = { kind: "answer", text: "Half", reasoning: "", calls: 2 } as const;
    const log = writeLog([
      { kind: "say", text: "One." },
      { ...answer, how: "whole" },
      { kind: "ask" },
      { kind: "elicit" },
      { kind: "kill" },
      { kind: "say", text: "Two." },
      { ...answer, how: "open" },
      { kind: "subagent" },
      { kind: "kill" },
      { kind: "say", text: "Three." },
      { kind: "ask" },
      { kind: "kill" },
      { kind: "queue" },
    ]);
    const whole = told(applyAll(emptyConversation, log));
    for (const at of log.keys()) {
      const opened = fromSnapshot(snapshotOf(log.slice(0, at)));
      expect(told(applyAll(opened, log.slice(at)))).toEqual(whole);
    }
  });

  test("nothing is there twice", () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 30 }), (acts) => {
        const { main } = applyAll(emptyConversation, writeLog(acts));
        const keys = main.items.map(({ kind, key }) => `${kind}:${key}`);
        expect(new Set(keys).size).toBe(keys.length);
        const positions = main.items.flatMap(({ position }) => position ?? []);
        expect(new Set(positions).size).toBe(positions.length);
      }),
      { numRuns: 200 },
    );
  });

  test("earlier messages in front of later ones are the whole transcript", () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 30 }), fc.nat(), (acts, cut) => {
        const snapshot = snapshotOf(writeLog(acts));
        const { transcript } = snapshot;
        const at = cut % (transcript.length + 1);
        const later = { ...snapshot, transcript: transcript.slice(at), omitted_messages: at };
        const page = { messages: transcript.slice(0, at), position: 0, total: transcript.length };
        const joined = addEarlier(fromSnapshot(later), { title: "", ...page });
        expect(told(joined)).toEqual(told(fromSnapshot(snapshot)));
      }),
      { numRuns: 200 },
    );
  });

  test("a state that was given out never changes, and what an event does not change keeps its identity", () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 20 }), (acts) => {
        let state = emptyConversation;
        for (const event of writeLog(acts)) {
          const copy = structuredClone(state);
          const next = applyEvent(state, event);
          expect(state).toEqual(copy);
          for (const item of next.main.items) {
            const before = state.main.items.find(
              ({ kind, key }) => kind === item.kind && key === item.key,
            );
            if (before !== item) expect(before).not.toEqual(item);
          }
          state = next;
        }
      }),
      { numRuns: 50 },
    );
  });
});
