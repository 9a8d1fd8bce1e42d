import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { shareEmbeddedPlace } from "#test/harness/embedded-place.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { findProcesses } from "#test/harness/processes.ts";
import {
  collect,
  eventsOf,
  inline,
  nextEvent,
  openEmbeddedPlace,
  runToEnd,
  scripted,
} from "#test/harness/runtimes.ts";

/** Every hook of a team file is really run, and what it answers counts. */

const place = shareEmbeddedPlace();

const create = (yaml: string, more: object = {}) =>
  place.create(yaml, { safety: "autonomous", ...more });

const call = (tool: string, input: object) => ({ tool_calls: [{ tool, input }] });
const write = (path: string) => call("write_file", { path, content: "as asked\n" });
const DONE = { text: "Done.", repeat: true };
const answer = (output: object) => `printf %s '${JSON.stringify(output)}'`;
const specific = (output: object) => answer({ hook_specific_output: output });
const agentWith = (hooks: object) => ({ toolsets: [{ type: "filesystem" }], hooks });
const isThere = (name: string) => existsSync(join(place.workDir, name));

const EVENTS = [
  "session_start",
  "on_user_input",
  "pre_tool_use",
  "post_tool_use",
  "stop",
  "session_end",
] as const;

/** What the hooks were told, in order. */
function readTold(path: string): Record<string, unknown>[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

test("each event is fired in a run, in order, and told what it is about; of the team and of the agent", async () => {
  const log = join(place.workDir, "told");
  const command = `{ cat; echo; } >> ${log}`;
  const hooks = Object.fromEntries(EVENTS.map((event) => [event, [{ command }]]));
  {
    await using own = await openEmbeddedPlace();
    const agent = {
      ...agentWith({ stop: [{ command: `cat > ${log}-own` }] }),
      description: "Leads.",
    };
    const yaml = scripted([write("told.txt"), DONE], agent, { hooks });
    const runtime = await own.backend.create({
      source: inline(yaml),
      working_dir: own.workDir,
      safety: "autonomous",
    });
    const turn = await runToEnd(runtime, "Write it.");
    expect(turn.at(-1)).toMatchObject({ type: "turn.ended", reason: "done" });
    const events = await collect(runtime.events({ follow: false }));
    const ended = eventsOf(events, "hook.ended").map(({ hook }) => hook);
    expect(ended).toEqual([...EVENTS.slice(0, 4), "stop", "stop"]);
  }
  const told = readTold(log);
  expect(told.map(({ hook_event_name }) => hook_event_name)).toEqual([...EVENTS]);
  expect(readTold(`${log}-own`)).toEqual([told[4]]);
  expect(told[1]).toMatchObject({ user_text: "Write it.", agent: "root" });
  expect(told[2]).toMatchObject({ tool_name: "write_file", tool_input: { path: "told.txt" } });
  expect(told[3]).toMatchObject({ tool_output: { is_error: false } });
  for (const each of told)
    expect(each).toMatchObject({ session_id: expect.any(String), cwd: expect.any(String) });
});

describe("a hook before a tool", () => {
  test.each([
    ["by its exit code", `echo "not today" >&2; exit 2`, "not today"],
    ["by its answer", answer({ decision: "block", reason: "not today" }), "not today"],
    ["by a denial", specific({ permission_decision: "deny" }), "blocked"],
    ["by a crash", "exit 1", "failed"],
    ["by being killed", "kill -9 $$", "failed"],
    ["by garbage", "echo '{'", "not JSON"],
    ["by an answer that is none", answer({ desicion: "block" }), "not an answer"],
    ["by an input that is none", specific({ updated_input: "text" }), "object"],
  ])("blocks %s", async (_name, command, why) => {
    const hooks = { pre_tool_use: [{ command }] };
    await using runtime = await create(scripted([write("blocked.txt"), DONE], agentWith(hooks)));
    const events = await runToEnd(runtime, "Write.");
    expect(isThere("blocked.txt")).toBe(false);
    expect(eventsOf(events, "hook.blocked")).toHaveLength(1);
    expect(eventsOf(events, "tool.result")[0]).toMatchObject({
      is_error: true,
      output: expect.stringContaining(why),
    });
    expect(events.at(-1)).toMatchObject({ reason: "done" });
  });

  test("blocks when it takes too long, and is ended then", async () => {
    const sleep = `9${process.pid}91.5`;
    const hooks = { pre_tool_use: [{ command: `sleep ${sleep}`, timeout: "100ms" }] };
    await using runtime = await create(scripted([write("slow.txt"), DONE], agentWith(hooks)));
    const [result] = eventsOf(await runToEnd(runtime, "Write."), "tool.result");
    expect(result?.output).toContain("too long");
    expect([isThere("slow.txt"), findProcesses(`sleep ${sleep}`)]).toEqual([false, []]);
  });

  test("changes the input, and the permissions look at the changed one", async () => {
    const changed = (path: string) => ({
      pre_tool_use: [{ command: specific({ updated_input: { path, content: "changed\n" } }) }],
    });
    await using runtime = await create(
      scripted([write("first.txt"), DONE], agentWith(changed("second.txt"))),
    );
    await runToEnd(runtime, "Write.");
    expect(isThere("first.txt")).toBe(false);
    expect(readFileSync(join(place.workDir, "second.txt"), "utf8")).toBe("changed\n");
    const yaml = scripted([write("third.txt"), DONE], agentWith(changed("denied.txt")));
    await using other = await create(yaml, {
      permissions: { deny: ["write_file:path=denied.txt"] },
    });
    const [result] = eventsOf(await runToEnd(other, "Write."), "tool.result");
    expect(result).toMatchObject({ is_error: true });
    expect([isThere("third.txt"), isThere("denied.txt")]).toEqual([false, false]);
  });

  test("may allow what would be asked for and ask for what would be allowed, but not what is denied", async () => {
    const decides = (permission_decision: string) =>
      agentWith({ pre_tool_use: [{ command: specific({ permission_decision }) }] });
    await using allowed = await create(scripted([write("h1.txt"), DONE], decides("allow")), {
      safety: "balanced",
    });
    const events = await runToEnd(allowed, "Write.");
    expect([eventsOf(events, "approval.requested").length, isThere("h1.txt")]).toEqual([0, true]);
    await using asked = await create(scripted([write("h2.txt"), DONE], decides("ask")));
    const running = runToEnd(asked, "Write.");
    const { approval_id } = await nextEvent(asked, "approval.requested");
    await asked.resume({ approval_id, decision: "reject" });
    await running;
    expect(isThere("h2.txt")).toBe(false);
    await using denied = await create(scripted([write("h3.txt"), DONE], decides("allow")), {
      permissions: { deny: ["write_file"] },
    });
    await runToEnd(denied, "Write.");
    expect(isThere("h3.txt")).toBe(false);
  });

  test("runs for the tools that its matcher names in full", async () => {
    const hooks = { pre_tool_use: [{ matcher: "write", command: "exit 2" }] };
    await using runtime = await create(scripted([write("m.txt"), DONE], agentWith(hooks)));
    const events = await runToEnd(runtime, "Write.");
    expect([eventsOf(events, "hook.started").length, isThere("m.txt")]).toEqual([0, true]);
    const bad = scripted([DONE], agentWith({ pre_tool_use: [{ matcher: "(", command: "true" }] }));
    await expect(create(bad)).rejects.toMatchObject({ code: "team_invalid" });
  });

  test("also works where nobody is", async () => {
    const hooks = { pre_tool_use: [{ command: "exit 2" }] };
    const yaml = scripted([write("none.txt"), DONE], agentWith(hooks));
    await using runtime = await create(yaml, { headless: true });
    expect(eventsOf(await runToEnd(runtime, "Write."), "hook.blocked")).toHaveLength(1);
    expect(isThere("none.txt")).toBe(false);
  });
});

describe("hooks add context", () => {
  const adds = (text: string) => specific({ additional_context: text });

  test("the start of a session to its first message, however long it takes", async () => {
    const command = `sleep 0.3; ${adds("The build is red.")}`;
    const steps = [
      { expect: { last_user_contains: ["Hello.", "The build is red."] }, text: "Hm." },
    ];
    await using runtime = await create(
      scripted([...steps, DONE], agentWith({ session_start: [{ command }] })),
    );
    const events = await runToEnd(runtime, "Hello.");
    expect(events.at(-1)).toMatchObject({ reason: "done" });
    const second = await runToEnd(runtime, "Again.");
    expect(JSON.stringify(eventsOf(second, "message.user"))).not.toContain("red");
  });

  test("what a user says to the message, a call and its result to the result", async () => {
    const steps = [
      { expect: { last_user_contains: ["Write.", "It is late."] }, ...write("ctx.txt") },
      {
        expect: { last_tool_result_contains: ["Mind the gap.", "Well done."] },
        text: "Thanks.",
      },
    ];
    const hooks = {
      on_user_input: [{ command: adds("It is late.") }],
      pre_tool_use: [{ command: adds("Mind the gap.") }],
      post_tool_use: [{ command: adds("Well done.") }],
    };
    await using runtime = await create(scripted(steps, agentWith(hooks)));
    expect((await runToEnd(runtime, "Write.")).at(-1)).toMatchObject({ reason: "done" });
  });
});

describe("a hook at what the user says", () => {
  test("changes the text", async () => {
    const hooks = { on_user_input: [{ command: specific({ updated_input: "In French: hello" }) }] };
    const steps = [{ expect: { last_user_contains: "In French: hello" }, text: "Bonjour." }];
    await using runtime = await create(scripted(steps, agentWith(hooks)));
    const events = await runToEnd(runtime, "hello");
    expect(eventsOf(events, "message.end")[0]?.text).toBe("Bonjour.");
  });

  test("blocks it: nothing is recorded, its key is free, and the turn says why", async () => {
    const hooks = { on_user_input: [{ command: `grep -q bad && exit 2; exit 0` }] };
    await using runtime = await create(scripted([DONE], agentWith(hooks)));
    const blocked = await runtime.send([{ content: "bad words" }], "k");
    expect(blocked.status).toBe("started");
    expect(await nextEvent(runtime, "turn.ended")).toMatchObject({
      reason: "error",
      message: expect.stringContaining("hook"),
    });
    expect((await runtime.transcript()).total).toBe(0);
    expect(await runtime.send([{ content: "good words" }], "k")).toMatchObject({
      status: "started",
    });
  });
});

describe("a hook at the end of a turn", () => {
  test("sends it back to work, with its reason, a bounded number of times", async () => {
    const command = answer({ decision: "block", reason: "The tests are red." });
    const hooks = { stop: [{ command }] };
    await using runtime = await create(scripted([DONE], agentWith(hooks)));
    const events = await runToEnd(runtime, "Go.");
    expect(events.at(-1)).toMatchObject({ type: "turn.ended", reason: "done" });
    const said = eventsOf(events, "message.user");
    expect(said.slice(1).every(({ origin }) => origin === "system")).toBe(true);
    expect([said.length, eventsOf(events, "message.end").length]).toEqual([6, 6]);
  });

  test("that crashes lets it end", async () => {
    await using runtime = await create(
      scripted([DONE], agentWith({ stop: [{ command: "exit 1" }] })),
    );
    const events = await runToEnd(runtime, "Go.");
    expect(eventsOf(events, "warning")[0]).toMatchObject({ code: "hook_failed" });
    expect(eventsOf(events, "message.end")).toHaveLength(1);
  });
});

test("a hook at the end of a session that does not end is ended, and everything else is closed", async () => {
  const sleep = `9${process.pid}92.5`;
  const own = await openEmbeddedPlace();
  const hooks = { session_end: [{ command: `sleep ${sleep}` }] };
  const runtime = await own.backend.create({
    source: inline(scripted([DONE], { hooks })),
    working_dir: own.workDir,
  });
  await runToEnd(runtime, "Go.");
  await own[Symbol.asyncDispose]();
  expect(findProcesses(`sleep ${sleep}`)).toEqual([]);
});

test("a hook of the start that still runs ends with the session", async () => {
  const name = `8${process.pid}66.5`;
  const hooks = { session_start: [{ command: `sleep ${name}` }] };
  const other = await openEmbeddedPlace();
  await other.backend.create({ source: inline(scripted([DONE], { hooks })) });
  await waitFor("the hook", () => findProcesses(`sleep ${name}`).length > 0);
  await other[Symbol.asyncDispose]();
  expect(findProcesses(`sleep ${name}`)).toEqual([]);
});
