import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type HookEvent, type Hooks, hookEvents } from "#agent/team/team.ts";
import { systemClock } from "#base/clock.ts";
import { ManualClock } from "#base/manual-clock.ts";
import type { AgentEventBody } from "#contract/agent/events.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { findProcesses } from "#test/harness/processes.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { createHooks, type HookPayload } from "./hooks.ts";
import { createRunCommand } from "./run-command.ts";

const call: HookPayload = {
  agent: "root",
  tool_name: "execute",
  call_id: "call_1",
  tool_input: { command: "ls" },
};

const hook = (command: string, matcher?: RegExp) => ({ command, matcher, timeout_ms: 5000 });
const answers = (answer: unknown) => hook(`printf '%s' '${JSON.stringify(answer)}'`);

function openPlace({
  team = {},
  agent = {},
  clock = systemClock,
}: {
  readonly team?: Hooks;
  readonly agent?: Hooks;
  readonly clock?: ManualClock | typeof systemClock;
}) {
  const dir = openTempDir();
  const events: AgentEventBody[] = [];
  const aborter = new AbortController();
  const hooks = createHooks({
    team,
    ofAgent: (name) => (name === "root" ? agent : undefined),
    runCommand: createRunCommand({ clock }),
    clock,
    emit: (event) => events.push(event),
    work_dir: dir.path,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", MARK: dir.path },
    session_id: "ses_1",
  });
  return {
    path: dir.path,
    events,
    aborter,
    types: () => events.map((event) => event.type),
    run: (event: HookEvent, payload = call) => hooks.run(event, payload, aborter),
    read: (file: string) => readFileSync(join(dir.path, file), "utf8"),
    sees: (file: string) => waitFor(file, () => existsSync(join(dir.path, file))),
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  };
}

test.each(hookEvents)("a hook of %s is told what happens", async (event) => {
  using place = openPlace({ team: { [event]: [hook("cat > told")] } });
  const payload = { agent: "root", tool_output: "out", user_text: "hi", stop_reason: "done" };
  const outcome = await place.run(event, payload);
  expect(JSON.parse(place.read("told"))).toEqual({
    session_id: "ses_1",
    cwd: place.path,
    hook_event_name: event,
    ...payload,
  });
  expect(outcome).toEqual({ context: [] });
  expect(place.events).toEqual([
    { type: "hook.started", agent: "root", hook: event, command: "cat > told" },
    {
      type: "hook.ended",
      agent: "root",
      hook: event,
      command: "cat > told",
      duration_ms: expect.any(Number),
    },
  ]);
});

test("a hook before a tool is told the tool, the call and its input", async () => {
  using place = openPlace({ team: { pre_tool_use: [hook("cat > told")] } });
  await place.run("pre_tool_use");
  expect(JSON.parse(place.read("told"))).toMatchObject({ ...call });
});

test("an event without hooks runs nothing and says nothing", async () => {
  using place = openPlace({ team: { stop: [hook("touch ran")] } });
  expect(await place.run("pre_tool_use")).toEqual({ context: [] });
  expect(place.events).toEqual([]);
});

describe("a hook that answers", () => {
  const specific = (output: unknown) => answers({ hook_specific_output: output });

  test.each<[HookEvent, unknown, object]>([
    ["pre_tool_use", { decision: "block", reason: "no" }, { blocked: "no" }],
    ["on_user_input", { decision: "block", reason: "no" }, { blocked: "no" }],
    ["stop", { decision: "block", reason: "go on" }, { blocked: "go on" }],
    ["stop", { decision: "block" }, { blocked: "a hook blocked it" }],
    [
      "post_tool_use",
      { continue: false, stop_reason: "enough" },
      { blocked: "enough", stop: "enough" },
    ],
    ["post_tool_use", { continue: true }, { blocked: undefined }],
    ["session_start", { system_message: "welcome" }, { system_message: "welcome" }],
  ])("at %s %j", async (event, answer, expected) => {
    using place = openPlace({ team: { [event]: [answers(answer)] } });
    expect(await place.run(event)).toMatchObject(expected);
  });

  test("another input changes the input of the tool", async () => {
    using place = openPlace({
      team: { pre_tool_use: [specific({ updated_input: { command: "ls -l" } })] },
    });
    expect((await place.run("pre_tool_use")).input).toEqual({ command: "ls -l" });
  });

  test("another text changes what the user said", async () => {
    using place = openPlace({ team: { on_user_input: [specific({ updated_input: "please" })] } });
    expect((await place.run("on_user_input")).input).toBe("please");
  });

  test("deny blocks the call", async () => {
    const deny = { reason: "no", hook_specific_output: { permission_decision: "deny" } };
    using place = openPlace({ team: { pre_tool_use: [answers(deny)] } });
    expect(await place.run("pre_tool_use")).toMatchObject({ blocked: "no", permission: undefined });
    expect(place.types()).toEqual(["hook.started", "hook.ended", "hook.blocked"]);
  });

  test("ask is stronger than allow, whatever their order", async () => {
    const allow = specific({ permission_decision: "allow" });
    const ask = specific({ permission_decision: "ask" });
    using one = openPlace({ team: { pre_tool_use: [allow] } });
    using both = openPlace({ team: { pre_tool_use: [ask, allow] } });
    expect((await one.run("pre_tool_use")).permission).toBe("allow");
    expect((await both.run("pre_tool_use")).permission).toBe("ask");
  });
});

test("exit 2 blocks, with what it said on stderr as the reason", async () => {
  using place = openPlace({ team: { pre_tool_use: [hook("echo 'not here' >&2; exit 2")] } });
  expect((await place.run("pre_tool_use")).blocked).toBe("not here");
  expect(place.events.at(-1)).toEqual({
    type: "hook.blocked",
    agent: "root",
    hook: "pre_tool_use",
    command: "echo 'not here' >&2; exit 2",
    message: "not here",
  });
});

test("exit 2 without a word blocks too", async () => {
  using place = openPlace({ team: { on_user_input: [hook("exit 2")] } });
  expect((await place.run("on_user_input")).blocked).toBe("a hook blocked it");
});

const failures: readonly (readonly [why: string, command: string])[] = [
  ["it exited with 1: oops", "echo oops >&2; exit 1"],
  ["it exited with 127", "no-such-program-anywhere"],
  ["it was ended by SIGSEGV", "kill -SEGV $$"],
  ["what it printed is not JSON", "echo hello"],
  ["what it printed is not JSON", 'printf \'{"decision":"block"\''],
  ["what it printed is not an answer", "echo true"],
  ["what it printed is not an answer", "echo null"],
  ["what it printed is not an answer", 'echo \'{"decison":"block"}\''],
  ["what it printed is not an answer", 'echo \'{"decision":"approve"}\''],
  ["it printed more than 65536 bytes", "head -c 200000 /dev/zero | tr '\\0' 1"],
  ["updated_input", 'echo \'{"hook_specific_output":{"updated_input":7}}\''],
];

describe("a hook that fails", () => {
  test.each(failures)("before a tool blocks: %s, %s", async (why, command) => {
    using place = openPlace({ team: { pre_tool_use: [hook(command)] } });
    const { blocked } = await place.run("pre_tool_use");
    expect(blocked).toContain("the pre_tool_use hook failed: ");
    expect(blocked).toContain(why);
    expect(place.types()).toEqual(["hook.started", "hook.ended", "hook.blocked"]);
  });

  test.each(failures)("elsewhere is a warning: %s, %s", async (why, command) => {
    using place = openPlace({ team: { on_user_input: [hook(command)] } });
    expect(await place.run("on_user_input")).toEqual({ context: [] });
    expect(place.types()).toEqual(["hook.started", "hook.ended", "warning"]);
    expect(place.events.at(-1)).toMatchObject({
      code: "hook_failed",
      message: expect.stringContaining(why),
    });
  });

  test.each<[HookEvent, unknown]>([
    ["pre_tool_use", "text"],
    ["on_user_input", { a: 1 }],
    ["stop", "text"],
  ])("at %s is one that changes the input to %j", async (event, updated_input) => {
    const wrong = answers({ hook_specific_output: { updated_input } });
    using place = openPlace({ team: { [event]: [wrong] } });
    expect((await place.run(event)).input).toBeUndefined();
    expect(place.events[1]).toMatchObject({ message: expect.stringContaining("updated_input") });
  });

  test("is one that gives a permission where there is no tool to permit", async () => {
    const wrong = answers({ hook_specific_output: { permission_decision: "deny" } });
    using place = openPlace({ team: { stop: [wrong] } });
    expect((await place.run("stop")).permission).toBeUndefined();
    expect(place.types()).toContain("warning");
  });

  test("is one that takes too long: before a tool it blocks and leaves nothing behind", async () => {
    const clock = new ManualClock();
    const slow = "trap '' TERM; touch up; tail -f $MARK/told";
    using place = openPlace({ team: { pre_tool_use: [hook(slow)] }, clock });
    writeFileSync(join(place.path, "told"), "");
    const running = place.run("pre_tool_use");
    await place.sees("up");
    clock.advance(5000);
    clock.advance(1000);
    expect((await running).blocked).toContain("it took too long");
    await waitFor("the end of all of them", () => findProcesses(place.path).length === 0);
  });

  test("is one that cannot be started", async () => {
    using place = openPlace({ team: { pre_tool_use: [hook("true\0")] } });
    expect((await place.run("pre_tool_use")).blocked).toContain("the pre_tool_use hook failed");
  });
});

test("a hook runs for the tools whose whole name its matcher matches", async () => {
  const named = (name: string, matcher: RegExp | undefined) => hook(`touch ${name}`, matcher);
  const pre_tool_use = [
    named("all", undefined),
    named("exact", /execute/),
    named("either", /read|execute/),
    named("anchored", /^exec.*$/g),
    named("inside", /exec/),
    named("other", /x|ecute/),
  ];
  using place = openPlace({ team: { pre_tool_use } });
  await place.run("pre_tool_use");
  await place.run("pre_tool_use");
  const ran = ["all", "exact", "either", "anchored", "inside", "other"].filter((name) =>
    existsSync(join(place.path, name)),
  );
  expect(ran).toEqual(["all", "exact", "either", "anchored"]);
});

test("the team's and the agent's hooks run, the same command once", async () => {
  const count = hook("echo x >> count");
  using place = openPlace({
    team: { stop: [count, hook("touch team")] },
    agent: { stop: [hook("touch agent"), count] },
  });
  await place.run("stop");
  expect(place.read("count")).toBe("x\n");
  expect(existsSync(join(place.path, "team")) && existsSync(join(place.path, "agent"))).toBe(true);
  await place.run("stop", { agent: "other" });
  expect(place.events.filter((event) => event.type === "hook.started")).toHaveLength(5);
});

test("hooks of an event run at the same time, and their answers count in the order of the file", async () => {
  const says = (context: string) =>
    JSON.stringify({
      decision: "block",
      reason: context,
      system_message: context,
      hook_specific_output: { additional_context: context, updated_input: { by: context } },
    });
  // The first waits for the second: one after the other it would wait for ever.
  const first = `while [ ! -e second ]; do sleep 0.01; done; printf '%s' '${says("first")}'`;
  const second = `touch second; printf '%s' '${says("second")}'`;
  using place = openPlace({
    team: { pre_tool_use: [hook(first)] },
    agent: { pre_tool_use: [hook(second)] },
  });
  expect(await place.run("pre_tool_use")).toEqual({
    blocked: "first",
    stop: undefined,
    input: { by: "second" },
    context: ["first", "second"],
    permission: undefined,
    system_message: "first\nsecond",
  });
});

test("eight run at the same time, and all of them run", async () => {
  const stop = Array.from({ length: 20 }, (_, index) => hook(`echo ${index} >> ran`));
  using place = openPlace({ team: { stop } });
  await place.run("stop");
  expect(place.read("ran").trim().split("\n")).toHaveLength(20);
  let running = 0;
  const counts = place.types().map((type) => {
    running += type === "hook.started" ? 1 : -1;
    return running;
  });
  expect(Math.max(...counts)).toBe(8);
});

test("an abort ends the hooks, each of which has an end in the log", async () => {
  using place = openPlace({ team: { pre_tool_use: [hook("touch up; tail -f $MARK/told")] } });
  writeFileSync(join(place.path, "told"), "");
  const running = place.run("pre_tool_use");
  await place.sees("up");
  place.aborter.abort(new Error("interrupted"));
  await expect(running).rejects.toThrow("interrupted");
  expect(place.types()).toEqual(["hook.started", "hook.ended"]);
  await waitFor("the end of the hook", () => findProcesses(place.path).length === 0);
});
