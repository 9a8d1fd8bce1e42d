import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { Runtime } from "#contract/runtime/runtime.ts";
import { shareEmbeddedPlace } from "#test/harness/embedded-place.ts";
import { waitFor } from "#test/harness/eventually.ts";
import {
  collect,
  eventsOf,
  nextEvent,
  runToEnd,
  say,
  scripted,
  typesOf,
} from "#test/harness/runtimes.ts";

/** 8.19: what is said in the middle of a turn, and what is said for later. */

const place = shareEmbeddedPlace();
const { create } = place;

/** A turn that begins so stands still until it is let go. */
const HOLD = { tool_calls: [{ tool: "write_file", input: { path: "x", content: "x" } }] };
const FILES = { toolsets: [{ type: "filesystem" }] };
const YES = { text: "Yes.", repeat: true };
const NEVER = { when: { last_user_contains: "Go." }, delay_ms: 600_000, text: "Never." };

function textsOf(events: readonly AnyEvent[]): string[] {
  return eventsOf(events, "message.user").map(({ content }) =>
    content.map((part) => (part.type === "text" ? part.text : "")).join(""),
  );
}

/** Begins a turn and holds it where it asks. */
async function hold(runtime: Runtime) {
  const running = runToEnd(runtime, "Go.");
  const { approval_id } = await nextEvent(runtime, "approval.requested");
  return async () => {
    await runtime.resume({ approval_id, decision: "approve" });
    return await running;
  };
}

async function allEvents(runtime: Runtime): Promise<AnyEvent[]> {
  return await collect(runtime.events({ follow: false }));
}

async function waitForTurns(runtime: Runtime, count: number): Promise<AnyEvent[]> {
  return await waitFor(`${count} turns to end`, async () => {
    const events = await allEvents(runtime);
    return eventsOf(events, "turn.ended").length === count && events;
  });
}

describe("steering", () => {
  test("is delivered at the next step: everything that waits, in order, each as its own message", async () => {
    const steps = [HOLD, { expect: { last_user_contains: "Second." }, text: "I hear you." }];
    await using runtime = await create(scripted(steps, FILES));
    const release = await hold(runtime);
    const messages = [...say("First."), ...say("Second.")];
    expect(await runtime.steer({ messages, framing: "plain" })).toEqual({
      status: "queued",
      position: 2,
    });
    expect((await runtime.queue()).waiting).toHaveLength(2);
    const events = await release();
    expect(textsOf(events)).toEqual(["Go.", "First.", "Second."]);
    const types = typesOf(events);
    // Behind the results of the calls that were under way, so that the history stays paired.
    expect(types.indexOf("tool.result")).toBeLessThan(types.lastIndexOf("message.user"));
    expect(events.at(-1)).toMatchObject({ type: "turn.ended", reason: "done" });
    expect((await runtime.queue()).waiting).toEqual([]);
  });

  test.each([
    ["plain", undefined],
    ["instruction", "Finish the step"],
    ["replacement", "Abandon"],
  ] as const)(
    "as %s reaches the model in its frame, and people as it was said",
    async (framing, words) => {
      const expected = { last_user_contains: words === undefined ? ["Left."] : [words, "Left."] };
      const steps = [HOLD, { expect: expected, text: "Left it is." }];
      await using runtime = await create(scripted(steps, FILES));
      const release = await hold(runtime);
      await runtime.steer({ messages: say("Left."), framing });
      const events = await release();
      expect(events.at(-1)).toMatchObject({ reason: "done" });
      expect(eventsOf(events, "message.user")[1]).toMatchObject({
        origin: "steer",
        framing,
        content: [{ type: "text", text: "Left." }],
      });
    },
  );

  test("is an instruction by default", async () => {
    await using runtime = await create(scripted([HOLD, YES], FILES));
    const release = await hold(runtime);
    await runtime.steer({ messages: say("Left.") });
    expect(eventsOf(await release(), "message.user")[1]?.framing).toBe("instruction");
  });

  test("needs a turn, and a refusal does not use up the key", async () => {
    await using runtime = await create(scripted([HOLD, YES], FILES));
    const request = { messages: say("Left."), idempotency_key: "k" };
    await expect(runtime.steer(request)).rejects.toMatchObject({ code: "nothing_running" });
    const release = await hold(runtime);
    expect(await runtime.steer(request)).toMatchObject({ status: "queued" });
    expect(await runtime.steer(request)).toEqual({ status: "duplicate" });
    expect(textsOf(await release())).toEqual(["Go.", "Left."]);
    // A key counts for its own session alone, and also behind the turn.
    expect(await runtime.steer(request)).toEqual({ status: "duplicate" });
    await using other = await create(scripted([NEVER]));
    const second = runToEnd(other, "Go.");
    await nextEvent(other, "message.user");
    expect(await other.steer(request)).toMatchObject({ status: "queued" });
    await other.interrupt();
    await second;
  });

  test("a full queue refuses a whole request, and accepts it when there is room", async () => {
    await using runtime = await create(scripted([NEVER, YES]));
    const running = runToEnd(runtime, "Go.");
    await nextEvent(runtime, "message.user");
    const most = limits.steer_queue;
    for (let n = 1; n < most; n += 1) await runtime.steer({ messages: say(`${n}`) });
    const two = { messages: [...say("x"), ...say("y")], idempotency_key: "k" };
    const full = { code: "queue_full", details: { capacity: most } };
    await expect(runtime.steer(two)).rejects.toMatchObject(full);
    expect((await runtime.queue()).steer).toEqual({ depth: most - 1, capacity: most });
    await runtime.steer({ messages: say("x"), idempotency_key: "k" });
    await expect(runtime.steer({ messages: say("y") })).rejects.toMatchObject(full);
    await runtime.interrupt();
    await running;
    // They were accepted: the next turn hears them.
    const next = await runToEnd(runtime, "And now?");
    expect(textsOf(next)).toEqual(["And now?", "1", "2", "3", "4", "x"]);
  });

  test("around the end of a turn is delivered in that turn or refused, never lost", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("message.start", "message.end", "usage.updated", "turn.ended"),
        fc.nat(30),
        async (moment, ticks) => {
          await using runtime = await create(scripted([YES]));
          let outcome = "none";
          const events: AnyEvent[] = [];
          for await (const { data } of runtime.run(say("Go."))) {
            events.push(data);
            if (data.type !== moment || outcome !== "none") continue;
            for (let n = 0; n < ticks; n += 1) await Promise.resolve();
            outcome = await runtime.steer({ messages: say("Left.") }).then(
              ({ status }) => status,
              (error: { readonly code: string }) => error.code,
            );
          }
          expect(textsOf(events)).toEqual(outcome === "queued" ? ["Go.", "Left."] : ["Go."]);
          expect(["queued", "nothing_running"]).toContain(outcome);
          expect((await runtime.queue()).waiting).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("during the last hooks is delivered before the turn ends", async () => {
    const flag = `${place.workDir}/may-stop`;
    const agent = {
      hooks: { stop: [{ command: `while ! test -e ${flag}; do sleep 0.02; done` }] },
    };
    await using runtime = await create(scripted([YES], agent));
    const running = runToEnd(runtime, "Go.");
    await nextEvent(runtime, "hook.started");
    await runtime.steer({ messages: say("Wait!"), framing: "plain" });
    writeFileSync(flag, "");
    const events = await running;
    expect(textsOf(events)).toEqual(["Go.", "Wait!"]);
    expect(eventsOf(events, "message.end")).toHaveLength(2);
  });

  test("blocked by a hook at the end does not prolong the turn", async () => {
    const flag = `${place.workDir}/may-stop-too`;
    const hooks = {
      on_user_input: [{ command: "grep -q secret && exit 2; exit 0" }],
      stop: [{ command: `while ! test -e ${flag}; do sleep 0.02; done` }],
    };
    await using runtime = await create(scripted([YES], { hooks }));
    const running = runToEnd(runtime, "Go.");
    await waitFor("the last hook", async () =>
      eventsOf(await allEvents(runtime), "hook.started").some(({ hook }) => hook === "stop"),
    );
    await runtime.steer({ messages: say("My secret.") });
    writeFileSync(flag, "");
    const events = await running;
    expect(textsOf(events)).toEqual(["Go."]);
    expect(eventsOf(events, "message.end")).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: "turn.ended", reason: "done" });
  });

  test("blocked by a hook does not reach the model and causes no request", async () => {
    const command = `grep -q secret && { echo "no secrets" >&2; exit 2; }; exit 0`;
    const agent = { ...FILES, hooks: { on_user_input: [{ command }] } };
    await using runtime = await create(scripted([HOLD, YES], agent));
    const release = await hold(runtime);
    await runtime.steer({ messages: say("My secret.") });
    const events = await release();
    expect(eventsOf(events, "hook.blocked")[0]?.message).toBe("no secrets");
    expect(textsOf(events)).toEqual(["Go."]);
    expect(eventsOf(events, "message.end")).toHaveLength(2);
    expect((await runtime.queue()).waiting).toEqual([]);
  });
});

describe("follow-ups", () => {
  test("get one turn each, in order", async () => {
    await using runtime = await create(scripted([HOLD, YES], FILES));
    const release = await hold(runtime);
    for (const text of ["One.", "Two.", "Three."]) await runtime.followUp({ messages: say(text) });
    expect((await runtime.queue()).followup.depth).toBe(3);
    await release();
    const events = await waitForTurns(runtime, 4);
    const told = events.flatMap((event) => {
      if (event.type === "turn.started") return ["("];
      if (event.type === "turn.ended") return [")"];
      return event.type === "message.user" ? textsOf([event]) : [];
    });
    expect(told.join("")).toBe("(Go.)(One.)(Two.)(Three.)");
    expect(eventsOf(events, "message.user").map(({ origin }) => origin)).toEqual([
      "message",
      "followup",
      "followup",
      "followup",
    ]);
  });

  test("start a turn when the agent is idle, once for each key", async () => {
    await using runtime = await create(scripted([YES]));
    const request = { messages: say("Hello?"), idempotency_key: "k" };
    const first = await runtime.followUp(request);
    expect(first.status).toBe("started");
    expect(await runtime.followUp(request)).toEqual({
      status: "duplicate",
      turn_id: first.turn_id,
    });
    await waitForTurns(runtime, 1);
    expect(await runtime.followUp(request)).toMatchObject({ status: "duplicate" });
    expect((await runtime.transcript()).total).toBe(2);
  });

  test("a full queue refuses, and the refusal does not use up the key", async () => {
    await using runtime = await create(scripted([NEVER, YES]));
    await runtime.send(say("Go."));
    const most = limits.followup_queue;
    for (let n = 0; n < most; n += 1) await runtime.followUp({ messages: say(`${n}`) });
    const more = { messages: say("more"), idempotency_key: "k" };
    await expect(runtime.followUp(more)).rejects.toMatchObject({ code: "queue_full" });
    await runtime.interrupt();
    // Those that wait come first, one for each end of a turn, until all were heard.
    await expect(runtime.followUp({ messages: say("0") })).rejects.toMatchObject({
      code: "queue_full",
    });
    await runToEnd(runtime, "On.");
    const events = await waitForTurns(runtime, most + 2);
    expect(textsOf(events).slice(2)).toEqual(Array.from({ length: most }, (_, n) => `${n}`));
    expect(await runtime.followUp(more)).toMatchObject({ status: "started" });
  });

  test("wait after an interrupted turn until the next message", async () => {
    await using runtime = await create(scripted([NEVER, YES]));
    await runtime.send(say("Go."));
    await runtime.followUp({ messages: say("One.") });
    await runtime.interrupt();
    expect((await runtime.queue()).followup.depth).toBe(1);
    expect(await runtime.followUp({ messages: say("Two.") })).toMatchObject({ status: "queued" });
    const events = await waitForTurns(runtime, 3);
    expect(textsOf(events)).toEqual(["Go.", "One.", "Two."]);
  });

  test("wait while a summary is written", async () => {
    const slow = { ...NEVER, when: { last_user_contains: "Write a summary" } };
    await using runtime = await create(scripted([slow, YES]));
    await runToEnd(runtime, "One.");
    await runToEnd(runtime, "Two.");
    const summary = runtime.summarize();
    await nextEvent(runtime, "compaction.started");
    await expect(runtime.send(say("Now!"))).rejects.toMatchObject({ code: "busy" });
    await expect(runtime.steer({ messages: say("Now!") })).rejects.toMatchObject({
      code: "nothing_running",
    });
    expect(await runtime.followUp({ messages: say("Later.") })).toEqual({
      status: "queued",
      position: 1,
    });
    await runtime.interrupt();
    expect(await summary).toMatchObject({ outcome: "failed" });
    const types = typesOf(await waitForTurns(runtime, 3));
    expect(types.lastIndexOf("turn.started")).toBeGreaterThan(types.indexOf("compaction.ended"));
  });
});
