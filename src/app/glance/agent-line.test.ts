import { expect, test } from "vitest";
import { channels } from "#contract/channels.ts";
import { openWrittenLog } from "#test/harness/written-log.ts";
import { readAgentEnd } from "./agent-line.ts";

type Event = Readonly<Record<string, unknown>>;

async function endOf(...events: readonly Event[]) {
  using log = openWrittenLog();
  for (const event of events)
    log.writer.append(channels.events, Buffer.from(`${JSON.stringify(event)}\n`));
  return await readAgentEnd(log.files, log.writer.tail);
}

const info = { type: "agent.info", name: "root", model: "scripted/echo" };
const turn = { turn_id: "turn_1", agent: "root" };
const started = { type: "turn.started", ...turn };
const ended = { type: "turn.ended", ...turn, reason: "done" };
const said = (text: string) => ({ type: "message.end", ...turn, model: "m/1", text });
const asked = {
  type: "approval.requested",
  ...turn,
  approval_id: "a",
  message: "May I run make?",
};

test("an agent that has only begun has a name, a model and no line", async () => {
  expect(await endOf(info)).toEqual({
    ...{ line: "", agent: "root", model: "scripted/echo" },
    ...{ isInTurn: false, isAsking: false },
  });
});

test.each([
  ["what it said", [said("First.\n\nLast.\n")], "Last."],
  [
    "what it is saying",
    [
      { type: "message.delta", ...turn, message_id: "m", text: "Hel" },
      { type: "message.delta", ...turn, message_id: "m", text: "lo\n" },
    ],
    "Hello",
  ],
  [
    "the call that it made",
    [
      said(""),
      { type: "tool.call.end", ...turn, tool: "execute", input: { n: 1, command: "npm test" } },
      { type: "tool.result", ...turn, tool: "execute", output: "ok", is_error: false },
    ],
    "tool execute npm test",
  ],
  [
    "a call that failed",
    [{ type: "tool.result", ...turn, tool: "read", output: "no\nsuch file", is_error: true }],
    "tool read failed: such file",
  ],
  [
    "what it wants to do",
    [{ ...asked, tool: "execute", input: { command: "make" } }],
    "asks: execute make",
  ],
  ["what it asks", [asked, { type: "usage.updated", ...turn }], "asks: May I run make?"],
  [
    "what its sub-agent asks, and not what that says",
    [
      { type: "elicitation.requested", subagent_id: "s", elicitation_id: "e", message: "Which?" },
      { ...said("mumble"), subagent_id: "s" },
    ],
    "asks: Which?",
  ],
  [
    "an error",
    [{ type: "error", ...turn, code: "model_failed", message: "no key" }],
    "error: no key",
  ],
  ["nothing that a terminal obeys", [said("\u001b[31mred\u001b[0m\u202e")], "[31mred [0m"],
])("the line of an agent is %s", async (_name, events, line) => {
  expect((await endOf(info, started, ...events)).line).toBe(line);
});

test("an open question is the line, whatever was said since; an answered one is not", async () => {
  const answered = { type: "approval.resolved", approval_id: "a" };
  expect(await endOf(started, asked, said("I wait."))).toMatchObject({
    ...{ line: "asks: May I run make?", isAsking: true, isInTurn: true },
  });
  expect(await endOf(started, asked, answered, said("Done."))).toMatchObject({
    ...{ line: "Done.", isAsking: false, isInTurn: true },
  });
  expect(await endOf(started, asked, said("x"), ended)).toMatchObject({
    ...{ line: "x", isAsking: false, isInTurn: false },
  });
});

test("a turn that began long before is known by the events that belong to it", async () => {
  const many = Array.from({ length: 400 }, (_, at) => said(`${at} ${"x".repeat(80)}`));
  expect(await endOf(info, started, ...many)).toMatchObject({
    ...{ isInTurn: true, agent: "root", model: "m/1", line: expect.stringMatching(/^399 x/) },
  });
  expect(await endOf(started, ...many, ended)).toMatchObject({ isInTurn: false });
});

test("behind one long answer of a tool the line before it is found", async () => {
  const long = { type: "tool.result", ...turn, tool: "t", output: "x".repeat(60_000) };
  expect((await endOf(said("Before."), long)).line).toBe("Before.");
});

test("lines that are no events are left out", async () => {
  using log = openWrittenLog();
  log.writer.append(channels.events, Buffer.from(`${JSON.stringify(said("kept"))}\n`));
  log.writer.append(
    channels.events,
    Buffer.from('{"type":7}\nnot json\n{"type":"constructor"}\n{"ty'),
  );
  expect((await readAgentEnd(log.files, log.writer.tail)).line).toBe("kept");
});
