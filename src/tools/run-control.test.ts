import { describe, expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import { answerRun, interruptRun, type Run, resumeRun, sendToRun } from "./run-control.ts";

type Answer = (input: Readonly<Record<string, unknown>>) => unknown;

/** A run whose operations answer as they are told, with what was asked of them. */
function createRun(
  answers: Readonly<Record<string, Answer>>,
  kind: "agent" | "terminal" = "agent",
) {
  const asked: [name: string, input: Readonly<Record<string, unknown>>][] = [];
  const call = async (name: string, input: Readonly<Record<string, unknown>>) => {
    asked.push([name, input]);
    return answers[name]?.(input) ?? {};
  };
  const session = {
    session_id: "ses_0000000000000000",
    kind,
    mode: kind === "agent" ? "pipe" : "pty",
  };
  // As much of a client and of a session as is looked at.
  const run = { client: { call }, session } as unknown as Run;
  return { run, asked, names: () => asked.map(([name]) => name) };
}

const fail = (code: Fault["code"]) => () => {
  throw new Fault(code, code);
};

describe("what is sent to an agent", () => {
  test("steers the turn that runs", async () => {
    const { run, asked } = createRun({ "agent.steer": () => ({ status: "queued", position: 1 }) });
    const sent = await sendToRun(run, { message: "Hi.", framing: "plain" });
    expect(sent).toEqual({ status: "queued", position: 1 });
    expect(asked).toMatchObject([
      ["agent.steer", { messages: [{ content: "Hi." }], framing: "plain" }],
    ]);
  });

  test("begins a turn when none runs, also when one ends in between", async () => {
    let busy = 2;
    const { run, names } = createRun({
      "agent.steer": fail("nothing_running"),
      "agent.send": () => {
        busy -= 1;
        if (busy >= 0) throw new Fault("busy", "busy");
        return { status: "started" };
      },
    });
    expect(await sendToRun(run, { message: "Hi." })).toEqual({ status: "started" });
    expect(names()).toEqual(Array.from({ length: 3 }, () => ["agent.steer", "agent.send"]).flat());
  });

  test("is given up when the two never agree", async () => {
    const { run, names } = createRun({
      ...{ "agent.steer": fail("nothing_running"), "agent.send": fail("busy") },
    });
    await expect(sendToRun(run, { message: "Hi." })).rejects.toMatchObject({ code: "busy" });
    expect(names()).toHaveLength(10);
  });

  test("is refused for any other reason at once", async () => {
    const { run, names } = createRun({ "agent.steer": fail("queue_full") });
    await expect(sendToRun(run, { message: "Hi." })).rejects.toMatchObject({ code: "queue_full" });
    expect(names()).toEqual(["agent.steer"]);
  });
});

const screenOf = (modes: object): Readonly<Record<string, Answer>> => ({
  "session.screen": () => ({ modes: { application_cursor: false, ...modes } }),
});

describe("what is sent to a terminal", () => {
  test("is typed as keys, with Enter unless said otherwise, once for a key", async () => {
    const { run, asked } = createRun(screenOf({ bracketed_paste: false }), "terminal");
    await sendToRun(run, { message: "a\nb", idempotency_key: "once" });
    await sendToRun(run, { message: "q", enter: false });
    expect(asked).toMatchObject([
      ["session.screen", { format: "text" }],
      ["session.input", { data: "a\rb\r", input_id: "once" }],
      ["session.input", { data: "q" }],
    ]);
  });

  test("is a paste for a program that knows pastes, and Enter comes when that has been taken in", async () => {
    const screen = screenOf({ bracketed_paste: true });
    const { run, asked } = createRun(
      {
        ...screen,
        "session.get": () => ({ tail: 7 }),
        "session.wait": () => ({ matched: true }),
      },
      "terminal",
    );
    await sendToRun(run, { message: "a\nb", idempotency_key: "once" });
    expect(asked).toMatchObject([
      ["session.screen", {}],
      ["session.get", {}],
      ["session.input", { data: "\x1b[200~a\rb\x1b[201~", input_id: "once" }],
      ["session.wait", { for: "output", since: 7 }],
      ["session.wait", { for: "idle" }],
      ["session.input", { data: "\r", input_id: "once/1" }],
    ]);
  });

  test("has no framing and is not empty", async () => {
    const { run, asked } = createRun({}, "terminal");
    const wrong = [
      { message: "x", framing: "plain" },
      { message: "", enter: false },
    ] as const;
    for (const input of wrong) await expect(sendToRun(run, input)).rejects.toBeInstanceOf(Fault);
    expect(asked).toEqual([]);
  });
});

describe("an answer without an id", () => {
  const pending = (...ids: readonly string[]) => ({
    "agent.snapshot": () => ({
      approvals: ids.map((approval_id) => ({ approval_id })),
      elicitations: ids.map((elicitation_id) => ({ elicitation_id })),
    }),
  });

  test("is for the only one that waits; an approval is a yes, a question accepted", async () => {
    const { run, asked } = createRun(pending("one"));
    expect(await resumeRun(run, {})).toEqual({ approval_id: "one" });
    expect(await answerRun(run, { content: { a: 1 } })).toEqual({ elicitation_id: "one" });
    expect(asked[1]).toMatchObject(["agent.resume", { approval_id: "one", decision: "approve" }]);
    expect(asked[3]).toMatchObject([
      "agent.elicitation",
      { elicitation_id: "one", action: "accept", content: { a: 1 } },
    ]);
  });

  test("is refused when several wait, which it names, or none", async () => {
    const several = createRun(pending("one", "two"));
    for (const answer of [resumeRun(several.run, {}), answerRun(several.run, {})])
      await expect(answer).rejects.toMatchObject({
        code: "invalid_request",
        message: expect.stringContaining("one, two"),
      });
    const none = createRun(pending());
    for (const answer of [resumeRun(none.run, {}), answerRun(none.run, {})])
      await expect(answer).rejects.toMatchObject({ code: "nothing_pending" });
    expect([...several.names(), ...none.names()]).not.toContain("agent.resume");
  });

  test("with an id nobody is asked what waits", async () => {
    const { run, names } = createRun({});
    await resumeRun(run, { approval_id: "two", decision: "reject" });
    await answerRun(run, { elicitation_id: "two", action: "decline" });
    expect(names()).toEqual(["agent.resume", "agent.elicitation"]);
  });
});

test("interrupting says whether there was something to stop", async () => {
  for (const signalled of [0, 1]) {
    const { run } = createRun({ "session.interrupt": () => ({ signalled }) });
    expect(await interruptRun(run)).toEqual({ interrupted: signalled > 0 });
  }
});
