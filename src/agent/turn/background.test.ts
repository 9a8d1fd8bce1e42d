import { describe, expect, test } from "vitest";
import type { ToolOutcome } from "#agent/toolset.ts";
import { ManualClock } from "#base/manual-clock.ts";
import type { AgentEventBody } from "#contract/agent/events.ts";
import { limits } from "#contract/limits.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { Background, runBackgroundTool } from "./background.ts";
import type { Actor, Stage, TurnEnd } from "./stage.ts";

/** The tools over a stage on which the test says when a sub-agent has ended. */
function openBackground() {
  const clock = new ManualClock();
  const events: AgentEventBody[] = [];
  const ends: ((end: TurnEnd) => void)[] = [];
  const perform = (actor: Actor) => {
    const { promise, resolve, reject } = Promise.withResolvers<TurnEnd>();
    ends.push((end) => {
      const message_id = `msg_${ends.length}`;
      actor.emit({ type: "message.start", message_id, model: "m" });
      const text = end.message ?? "";
      actor.emit({ type: "message.end", message_id, model: "m", text, stop_reason: "stop" });
      resolve(end);
    });
    actor.signal.addEventListener("abort", () => reject(new Error("stopped")));
    return promise;
  };
  const definition = { name: "root", sub_agents: ["helper"] };
  // As much of both as sending somebody out needs.
  const stage = {
    background: new Background(),
    ports: { clock },
    fold: { session_id: "ses_1" },
    emit: (body: AgentEventBody) => void events.push(body),
    cast: async (name: string) => {
      if (name === "broken") throw new Error("it does not start");
      return { definition: { name } };
    },
    perform,
  } as unknown as Stage;
  const stop = new AbortController();
  const actor = { cast: { definition }, depth: 0, signal: stop.signal } as unknown as Actor;
  const run = (tool: string, input: Readonly<Record<string, unknown>> = {}) =>
    runBackgroundTool({ call_id: "c", tool, input }, actor, stage);
  const start = async (task = "Work.") => {
    const { output } = await run("start_background_agent", { agent: "helper", task });
    const at = ends.length;
    await waitFor("it to work", () => ends.length > at - 1 && events.length > 0);
    return output.split(" ")[0] ?? "";
  };
  return { clock, events, ends, stage, stop, definition, run, start };
}

describe("a background agent", () => {
  test("is started, listed, read while it works and when it is done", async () => {
    const { run, start, ends } = openBackground();
    expect((await run("list_background_agents")).output).toBe("You have no background agents.");
    const id = await start("Count the words.\nAll of them.");
    expect((await run("list_background_agents")).output).toBe(
      `${id} helper: working: Count the words.`,
    );
    expect(await run("read_background_agent", { id })).toEqual({
      output: `${id} is still working.`,
    });
    const waiting = run("read_background_agent", { id, wait_seconds: 30 });
    await waitFor("it to work", () => ends.length === 1);
    ends[0]?.({ reason: "done", message: "There are 42." });
    expect(await waiting).toEqual({ output: "There are 42.", is_error: false });
    expect((await run("list_background_agents")).output).toContain("done");
  });

  test("is waited for no longer than asked, and not at all behind an interrupt", async () => {
    const { run, start, clock, stop } = openBackground();
    const id = await start();
    const waiting = run("read_background_agent", { id, wait_seconds: 5 });
    await waitFor("the wait", () => clock.timers === 1);
    clock.advance(5000);
    expect((await waiting).output).toContain("still working");
    const interrupted = run("read_background_agent", { id, wait_seconds: 60 });
    await waitFor("the wait", () => clock.timers === 1);
    stop.abort();
    expect((await interrupted).output).toContain("still working");
    expect((await run("read_background_agent", { id, wait_seconds: 60 })).output).toContain(
      "still working",
    );
  });

  test("is stopped, and then it has ended", async () => {
    const { run, start, events, stage } = openBackground();
    const id = await start();
    expect(await run("stop_background_agent", { id })).toEqual({ output: `${id} was stopped.` });
    expect(events.at(-1)).toMatchObject({ type: "subagent.ended", outcome: "stopped" });
    expect(stage.background.running).toBe(0);
    expect(await run("read_background_agent", { id })).toMatchObject({ is_error: true });
  });

  test("that fails is an error for who reads it, also when it could not start", async () => {
    const { run, start, ends, definition } = openBackground();
    const id = await start();
    await waitFor("it to work", () => ends.length === 1);
    ends[0]?.({ reason: "budget", message: "All is spent." });
    const read = await run("read_background_agent", { id, wait_seconds: 1 });
    expect(read).toMatchObject({ is_error: true, output: expect.stringContaining("budget") });
    definition.sub_agents.push("broken");
    const started = await run("start_background_agent", { agent: "broken", task: "x" });
    const broken = started.output.split(" ")[0];
    expect(await run("read_background_agent", { id: broken, wait_seconds: 1 })).toMatchObject({
      is_error: true,
      output: expect.stringContaining("it does not start"),
    });
  });

  test.each([
    ["start_background_agent", { agent: "stranger", task: "x" }],
    ["start_background_agent", { agent: "helper", task: " " }],
    ["start_background_agent", { agent: "helper" }],
    ["read_background_agent", { id: "sub_x" }],
    ["read_background_agent", {}],
    ["stop_background_agent", { id: 7 }],
  ])("%s %j is refused", async (tool, input) => {
    const { run, events } = openBackground();
    const { is_error }: ToolOutcome = await run(tool, input);
    expect([is_error, events]).toEqual([true, []]);
  });

  test("there are only so many at a time, and all are stopped at the end", async () => {
    const { run, start, stage } = openBackground();
    for (let n = 0; n < limits.background_agents; n += 1) await start();
    expect(await run("start_background_agent", { agent: "helper", task: "x" })).toMatchObject({
      is_error: true,
    });
    await stage.background.stopAll();
    expect(stage.background.running).toBe(0);
    await start();
    // Answers that nobody asked for are forgotten at some time.
    expect(stage.background.all().length).toBeLessThanOrEqual(limits.background_agents + 1);
  });
});
