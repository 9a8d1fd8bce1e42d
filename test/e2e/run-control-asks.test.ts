import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Runtime } from "#contract/runtime/runtime.ts";
import { shareEmbeddedPlace } from "#test/harness/embedded-place.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { eventsOf, nextEvent, runToEnd, scripted } from "#test/harness/runtimes.ts";

/** Approvals, questions and permissions in a run. */

const place = shareEmbeddedPlace();
const { create } = place;

const calls = (...inputs: readonly (readonly [string, object])[]) => ({
  tool_calls: inputs.map(([tool, input]) => ({ tool, input })),
});
const write = (path: string) => ["write_file", { path, content: path }] as const;
const FILES = { toolsets: [{ type: "filesystem" }] };
const DONE = { text: "Done.", repeat: true };
const NOTHING = { code: "nothing_pending" };
const isThere = (name: string) => existsSync(join(place.workDir, name));

/** Waits until so many approvals are open. */
const waitForApprovals = (runtime: Runtime, count: number) =>
  waitFor(`${count} approvals`, async () => {
    const { approvals } = await runtime.snapshot();
    return approvals.length === count && approvals;
  });

describe("an answer to an approval", () => {
  test("applies to the call that it names, in any order of answers", async () => {
    writeFileSync(join(place.workDir, "one.txt"), "the first");
    writeFileSync(join(place.workDir, "two.txt"), "the second");
    const step = calls(["read_file", { path: "one.txt" }], ["read_file", { path: "two.txt" }]);
    await using runtime = await create(scripted([step, DONE], FILES), { safety: "strict" });
    const running = runToEnd(runtime, "Read.");
    const [one, two] = await waitForApprovals(runtime, 2);
    expect([one?.input, two?.input]).toEqual([{ path: "one.txt" }, { path: "two.txt" }]);
    await runtime.resume({ approval_id: two?.approval_id ?? "", decision: "reject" });
    await expect(
      runtime.resume({ approval_id: two?.approval_id ?? "", decision: "approve" }),
    ).rejects.toMatchObject(NOTHING);
    await runtime.resume({ approval_id: one?.approval_id ?? "", decision: "approve" });
    const results = eventsOf(await running, "tool.result");
    const of = (call_id: string | undefined) => results.find((each) => each.call_id === call_id);
    expect(of(one?.call_id)).toMatchObject({
      is_error: false,
      output: expect.stringContaining("the first"),
    });
    expect(of(two?.call_id)).toMatchObject({
      is_error: true,
      output: "The user rejected this call.",
    });
  });

  test("changes nothing when it is late or repeated", async () => {
    await using runtime = await create(scripted([calls(write("late.txt")), DONE], FILES));
    const running = runToEnd(runtime, "Write.");
    const { approval_id } = await nextEvent(runtime, "approval.requested");
    await runtime.resume({ approval_id, decision: "reject" });
    await running;
    for (const decision of ["approve", "approve_session", "approve_tool", "reject"] as const)
      await expect(runtime.resume({ approval_id, decision })).rejects.toMatchObject(NOTHING);
    expect((await runtime.permissions()).session.allow ?? []).toEqual([]);
    expect(isThere("late.txt")).toBe(false);
  });

  test("is refused without an id or with an unknown decision, and the approval stays open", async () => {
    await using runtime = await create(scripted([calls(write("kind.txt")), DONE], FILES));
    const running = runToEnd(runtime, "Write.");
    const { approval_id } = await nextEvent(runtime, "approval.requested");
    const refused = { code: "invalid_request" };
    for (const answer of [
      { approval_id, decision: "maybe" },
      { approval_id, decision: "" },
      { approval_id },
      { approval_id: "", decision: "approve" },
      { decision: "approve" },
      { approval_id, decision: "approve", always: true },
    ])
      await expect(runtime.resume(answer as never)).rejects.toMatchObject(refused);
    expect((await runtime.snapshot()).approvals).toHaveLength(1);
    await runtime.resume({ approval_id, decision: "approve" });
    await running;
    expect(isThere("kind.txt")).toBe(true);
  });
});

describe("a rejection", () => {
  test.each([
    ["with a reason passes the reason to the model", " Not on a Friday. ", "Friday"],
    ["with a blank reason has no reason", " \n\t ", "The user rejected this call."],
    ["without a reason says that there is none", undefined, "The user rejected this call."],
  ])("%s", async (_name, reason, heard) => {
    const steps = [
      calls(write("no.txt")),
      { expect: { last_tool_result_contains: heard, tool_error: true }, text: "I see." },
    ];
    await using runtime = await create(scripted(steps, FILES));
    const running = runToEnd(runtime, "Write.");
    const { approval_id } = await nextEvent(runtime, "approval.requested");
    await runtime.resume({ approval_id, decision: "reject", reason });
    const events = await running;
    expect(events.at(-1)).toMatchObject({ type: "turn.ended", reason: "done" });
    const [resolved] = eventsOf(events, "approval.resolved");
    expect(resolved?.reason).toBe(reason?.trim() === "" ? undefined : reason?.trim());
    if (heard !== "Friday") expect(eventsOf(events, "tool.result")[0]?.output).toBe(heard);
  });
});

describe("approving a tool", () => {
  test("without a name allows the tool of the approval, once in the list", async () => {
    const steps = [calls(write("a.txt")), calls(write("b.txt")), DONE];
    await using runtime = await create(scripted(steps, FILES));
    const running = runToEnd(runtime, "Write.");
    const { approval_id } = await nextEvent(runtime, "approval.requested");
    await runtime.resume({ approval_id, decision: "approve_tool" });
    const events = await running;
    expect(eventsOf(events, "approval.requested")).toHaveLength(1);
    expect([isThere("a.txt"), isThere("b.txt")]).toEqual([true, true]);
    expect((await runtime.permissions()).session.allow).toEqual(["write_file"]);
  });

  test("twice at the same time leaves one entry", async () => {
    const step = calls(["read_file", { path: "a" }], ["read_file", { path: "b" }]);
    await using runtime = await create(scripted([step, DONE], FILES), { safety: "strict" });
    const running = runToEnd(runtime, "Read.");
    for (const { approval_id } of await waitForApprovals(runtime, 2))
      await runtime.resume({ approval_id, decision: "approve_tool" });
    await running;
    expect((await runtime.permissions()).session.allow).toHaveLength(1);
  });

  test("by a pattern allows what the pattern names; an invalid pattern is refused and the approval stays open", async () => {
    const steps = [calls(write("p1.txt")), calls(write("p2.txt")), calls(write("q.md")), DONE];
    await using runtime = await create(scripted(steps, FILES));
    const running = runToEnd(runtime, "Write.");
    const { approval_id } = await nextEvent(runtime, "approval.requested");
    await expect(
      runtime.resume({ approval_id, decision: "approve_tool", tool_name: "write_file:(" }),
    ).rejects.toMatchObject({ code: "invalid_request" });
    const tool_name = "write_file:path=*.txt";
    await runtime.resume({ approval_id, decision: "approve_tool", tool_name });
    const [last] = await waitFor("the call that the pattern does not name", async () => {
      const { approvals } = await runtime.snapshot();
      return approvals.length === 1 && approvals;
    });
    expect(last?.input).toMatchObject({ path: "q.md" });
    await runtime.resume({ approval_id: last?.approval_id ?? "", decision: "reject" });
    await running;
    expect(isThere("p2.txt")).toBe(true);
    expect((await runtime.permissions()).session.allow).toEqual([tool_name]);
  });
});

describe("a denied call", () => {
  const SHELL = { toolsets: [{ type: "shell" }, { type: "filesystem" }] };
  const execute = (command: string) => ["execute", { command }] as const;

  test.each([
    ["by the team, in an autonomous session", { permissions: { deny: ["write_file"] } }, {}],
    ["by the session", {}, { permissions: { deny: ["write_file"] } }],
    [
      "by the team, though the session allows it",
      { permissions: { deny: ["WRITE_FILE"] } },
      { permissions: { allow: ["*"] } },
    ],
  ])("%s, is not done", async (_name, team, session) => {
    const yaml = scripted([calls(write("denied.txt")), DONE], FILES, team);
    await using runtime = await create(yaml, { safety: "autonomous", ...session });
    const events = await runToEnd(runtime, "Write.");
    expect(eventsOf(events, "approval.requested")).toEqual([]);
    expect(eventsOf(events, "tool.result")[0]).toMatchObject({ is_error: true });
    expect(isThere("denied.txt")).toBe(false);
  });

  test("stays denied when the whole session is approved", async () => {
    const steps = [calls(write("all1.txt")), calls(write("secret/all2.txt")), DONE];
    const team = { permissions: { deny: ["write_file:path=secret/*"] } };
    await using runtime = await create(scripted(steps, FILES, team));
    const running = runToEnd(runtime, "Write.");
    const { approval_id } = await nextEvent(runtime, "approval.requested");
    await runtime.resume({ approval_id, decision: "approve_session" });
    const results = eventsOf(await running, "tool.result");
    expect(results.map(({ is_error }) => is_error)).toEqual([false, true]);
    expect(isThere("secret/all2.txt")).toBe(false);
  });

  test("is recognized in paths, in addresses, with colons and blanks, and behind other commands", async () => {
    const deny = [
      "execute:command=touch */made-slash*",
      "execute:command=touch made:colon",
      "execute:command=touch C:\\made",
      "execute:command=touch http://made*",
      "execute:command=touch made blank",
      "execute:command=touch made-behind",
    ];
    const bad = [
      "touch ./made-slash",
      "touch made:colon",
      "touch C:\\made",
      "touch http://made/x",
      "touch made blank",
      "true;touch made-behind",
      "true&&touch made-behind",
      "true|touch made-behind",
      "(touch made-behind)",
      "TOUCH made-behind",
    ];
    const yaml = scripted([calls(...bad.map(execute)), DONE], SHELL, { permissions: { deny } });
    await using runtime = await create(yaml, { safety: "autonomous" });
    const results = eventsOf(await runToEnd(runtime, "Touch."), "tool.result");
    expect(results).toHaveLength(bad.length);
    for (const { is_error, output } of results)
      expect([is_error, output]).toEqual([true, expect.stringContaining("not allowed")]);
    for (const name of ["made-slash", "made:colon", "made", "blank", "made-behind"])
      expect(isThere(name)).toBe(false);
  });

  test("an allowed prefix does not allow a longer word that begins with it", async () => {
    const good = "echo hello";
    const bad = ["echo a;touch made1", "echo a&touch made1", "echo $(touch made1)", "echo a>made1"];
    const yaml = scripted([calls(execute(good), ...bad.map(execute)), DONE], SHELL, {
      permissions: { allow: ["execute:command=echo *"] },
    });
    await using runtime = await create(yaml, { headless: true });
    const results = eventsOf(await runToEnd(runtime, "Echo."), "tool.result");
    expect(results.map(({ is_error }) => is_error)).toEqual([false, true, true, true, true]);
    expect(isThere("made1")).toBe(false);
  });

  test("an invalid pattern is refused in a team and in a session", async () => {
    const yaml = scripted([DONE], FILES, { permissions: { deny: ["write_file:("] } });
    await expect(create(yaml)).rejects.toMatchObject({ code: "team_invalid" });
    const bad = { permissions: { deny: ["write_file:("] } };
    await expect(create(scripted([DONE]), bad)).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("input that is not JSON is never run as a call", async () => {
    const steps = [{ tool_calls: [{ tool: "write_file", raw: `{"path":` }] }, DONE];
    await using runtime = await create(scripted(steps, FILES), { safety: "autonomous" });
    const [result] = eventsOf(await runToEnd(runtime, "Write."), "tool.result");
    expect(result).toMatchObject({ is_error: true });
  });
});

describe("questions", () => {
  const ask = (...messages: string[]) =>
    calls(...messages.map((message) => ["user_prompt", { message }] as const));
  const PROMPTS = { toolsets: [{ type: "user_prompt" }] };

  test("several at once are answered by their ids", async () => {
    const step = ask("Which colour?", "Which size?", "Which shape?");
    await using runtime = await create(scripted([step, DONE], PROMPTS));
    const running = runToEnd(runtime, "Ask.");
    const asked = await waitFor("three questions", async () => {
      const { elicitations } = await runtime.snapshot();
      return elicitations.length === 3 && elicitations;
    });
    const refused = { code: "invalid_request" };
    await expect(
      runtime.answerElicitation({ elicitation_id: "", action: "accept" }),
    ).rejects.toMatchObject(refused);
    for (const { elicitation_id, message } of asked.toReversed())
      await runtime.answerElicitation({
        elicitation_id,
        action: "accept",
        content: { answer: `about ${message}` },
      });
    const results = eventsOf(await running, "tool.result");
    expect(results).toHaveLength(3);
    for (const { call_id, message } of asked)
      expect(results.find((each) => each.call_id === call_id)?.output).toContain(message);
  });

  test("an unknown id gives nothing_pending, and an unknown action is refused", async () => {
    await using runtime = await create(scripted([ask("Which?"), DONE], PROMPTS));
    await expect(
      runtime.answerElicitation({ elicitation_id: "eli_x", action: "accept" }),
    ).rejects.toMatchObject(NOTHING);
    const running = runToEnd(runtime, "Ask.");
    const { elicitation_id } = await nextEvent(runtime, "elicitation.requested");
    await expect(
      runtime.answerElicitation({ elicitation_id, action: "agree" as never }),
    ).rejects.toMatchObject({ code: "invalid_request" });
    await runtime.answerElicitation({ elicitation_id, action: "cancel" });
    await expect(
      runtime.answerElicitation({ elicitation_id, action: "accept" }),
    ).rejects.toMatchObject(NOTHING);
    expect((await running).at(-1)).toMatchObject({ reason: "done" });
  });

  test("are declined at once in a headless session, and approvals are denied", async () => {
    const steps = [ask("Which?"), calls(write("headless.txt")), DONE];
    const agent = { toolsets: [{ type: "user_prompt" }, { type: "filesystem" }] };
    await using runtime = await create(scripted(steps, agent), { headless: true });
    const events = await runToEnd(runtime, "Ask and write.");
    expect(events.at(-1)).toMatchObject({ type: "turn.ended", reason: "done" });
    expect(eventsOf(events, "elicitation.resolved")).toEqual([
      expect.objectContaining({ action: "decline", by: "headless" }),
    ]);
    expect(eventsOf(events, "tool.result")[1]).toMatchObject({
      is_error: true,
      output: expect.stringContaining("nobody is there"),
    });
    expect(isThere("headless.txt")).toBe(false);
  });
});
