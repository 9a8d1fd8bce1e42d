import { expect, test } from "vitest";
import { AgentState } from "#agent/state/agent-state.ts";
import type { AgentEvent, AgentEventBody, QueuedMessage } from "#contract/agent/events.ts";
import { limits } from "#contract/limits.ts";
import { MessageQueue } from "./message-queue.ts";

const SESSION = "ses_0000000000000001";

function openQueue() {
  const fold = new AgentState(SESSION);
  const events: AgentEventBody[] = [];
  const emit = (body: AgentEventBody) => {
    events.push(body);
    // The fold reads nothing of what is added to every event.
    fold.apply({ ...body, at: "", session_id: SESSION } as AgentEvent);
  };
  return { queue: new MessageQueue(fold, emit), fold, events, emit };
}

const part = (text: string) => [{ type: "text" as const, text }];
const textsOf = (messages: readonly QueuedMessage[]) =>
  messages.map(({ content }) => (content[0]?.type === "text" ? content[0].text : ""));

test("messages wait in their order, each kind for itself", () => {
  const { queue, events } = openQueue();
  expect(queue.add("followup", { messages: [part("a")] })).toBe(1);
  expect(queue.add("steer", { messages: [part("b"), part("c")], framing: "plain" })).toBe(2);
  expect(queue.add("followup", { messages: [part("d")] })).toBe(2);
  expect(textsOf(queue.next("followup", 1))).toEqual(["a"]);
  expect(textsOf(queue.next("steer", 5))).toEqual(["b", "c"]);
  expect(events.at(-1)).toMatchObject({ steer: 2, followup: 2 });
});

test.each([
  ["steer", limits.steer_queue],
  ["followup", limits.followup_queue],
] as const)("a full %s queue takes all of a request or none of it, and no key", (kind, most) => {
  const { queue, fold, events } = openQueue();
  for (let n = 1; n < most; n += 1) queue.add(kind, { messages: [part(`${n}`)] });
  const before = events.length;
  expect(() => queue.add(kind, { messages: [part("x"), part("y")], idempotency_key: "k" })).toThrow(
    expect.objectContaining({
      code: "queue_full",
      details: { queue: kind, capacity: most, retry_after_s: 1 },
    }),
  );
  expect([events.length, fold.keys.has("k")]).toEqual([before, false]);
  expect(queue.add(kind, { messages: [part("x")], idempotency_key: "k" })).toBe(most);
  expect(fold.keys.has("k")).toBe(true);
  expect(() => queue.add(kind, { messages: [part("y")] })).toThrow(/wait already/);
});

test("a message leaves by being said, and telling so again changes nothing", () => {
  const { queue, emit, events } = openQueue();
  queue.add("steer", { messages: [part("a"), part("b")] });
  const said = queue.next("steer", 1);
  const [first] = said;
  emit({
    type: "message.user",
    message_id: "msg_1",
    content: part("a"),
    origin: "steer",
    queue_id: first?.queue_id,
  });
  expect(textsOf(queue.next("steer", 5))).toEqual(["b"]);
  queue.tell(said);
  expect(textsOf(queue.next("steer", 5))).toEqual(["b"]);
  expect(events.at(-1)).toMatchObject({ steer: 1, followup: 0, removed: [first?.queue_id] });
  const before = events.length;
  queue.tell([]);
  expect(events).toHaveLength(before);
});
