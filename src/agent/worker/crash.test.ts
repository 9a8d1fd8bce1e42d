import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AgentPorts } from "#agent/ports.ts";
import { AgentState } from "#agent/state/agent-state.ts";
import { systemClock } from "#base/clock.ts";
import { silentLogger } from "#base/logger.ts";
import type { AgentEvent } from "#contract/agent/events.ts";
import type { Memory } from "#contract/agent/memory.ts";
import type { SessionEvent } from "#contract/events.ts";
import { Fault } from "#contract/fault.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { type Agent, openAgent } from "./agent.ts";

/** A worker that dies after any event that it writes, and the lives that follow it. */

const SESSION = "ses_0000000000000001";
const AT = "2026-01-01T00:00:00.000Z";

const TEAM = JSON.stringify({
  agents: {
    root: {
      model: "main",
      description: "Works.",
      instruction: "Work.",
      toolsets: [{ type: "memory" }],
    },
  },
  models: {
    main: {
      provider: "scripted",
      script: [
        { when: { last_user_contains: "fail" }, error: { cause: "refused" }, repeat: true },
        { when: { last_user_contains: "wait" }, delay_ms: 600_000, text: "Late.", repeat: true },
        {
          when: { last_role: "user" },
          tool_calls: [{ tool: "memory_add", input: { text: "x" } }],
          repeat: true,
        },
        { text: "Done.", repeat: true },
      ],
    },
  },
});
const SPEC = {
  ...{ yaml: TEAM, name: "test", base_dir: "/", work_dir: "/", agent: "root" },
  safety: "autonomous",
  titled: true,
} as const;

type Kind = "messages" | "followup" | "steer";
const FOREVER = Number.POSITIVE_INFINITY;
const REFUSALS = ["busy", "nothing_running", "queue_full"];

/** The log of one session, and what its tools have done. */
class Session {
  readonly log: (AgentEvent | SessionEvent)[] = [];
  runs = 0;
  #agent: Agent | undefined;
  #death = Promise.withResolvers<"dead">();
  #life = 0;

  /** The next life, which dies when it has written so many events. */
  async live(events: number): Promise<void> {
    this.#life += 1;
    const session_id = SESSION;
    if (this.#life > 1) this.#host({ type: "session.resumed", life: this.#life });
    const fold = new AgentState(session_id);
    for (const event of this.log) fold.apply(event);
    const death = Promise.withResolvers<"dead">();
    this.#death = death;
    let left = events;
    let isDead = false;
    const ports: AgentPorts = {
      ...{ session_id, clock: systemClock, log: silentLogger, version: "test", home: "/", env: {} },
      output: (event) => {
        if (left <= 0) {
          isDead = true;
          death.resolve("dead");
        }
        // Here it lingers as a ghost: what it does from now on is written nowhere, and its tools refuse.
        if (isDead) return;
        left -= 1;
        this.log.push(event);
      },
      // No tool of this team uses them.
      tools: {} as AgentPorts["tools"],
      openMemory: () => createStore(() => this.#run(isDead)),
      blobs: { put: () => "", get: () => undefined },
      rename: async () => undefined,
    };
    this.#agent = await openAgent({ ports, fold, spec: SPEC, keys: {} });
  }

  /** Adds the event that the host writes when it has seen the end. */
  crash(): void {
    const state = { kind: "exited", exit_code: 137, signal: "KILL", reason: "exited" };
    this.#host({ type: "session.exited", state });
  }

  park(): Promise<void> {
    const state = { kind: "exited", exit_code: 0, signal: null, reason: "exited" };
    this.#host({ type: "session.exited", state });
    return this.#agent?.park() ?? Promise.resolve();
  }

  get fold(): AgentState {
    const fold = new AgentState(SESSION);
    for (const event of this.log) fold.apply(event);
    return fold;
  }

  get isDead(): Promise<boolean> {
    return Promise.race([this.#death.promise, Promise.resolve("alive")]).then(
      (is) => is === "dead",
    );
  }

  /** Its answer, or that it died first. */
  async ask(kind: Kind, text: string): Promise<string> {
    const input = { messages: [{ content: text }], idempotency_key: `key ${text}` };
    const asked = this.#agent?.handle(kind, input).then(({ status }) => status as string);
    return await Promise.race([this.#death.promise, asked ?? this.#death.promise]);
  }

  async interrupt(): Promise<void> {
    await this.#agent?.handle("interrupt", {});
  }

  #run(isDead: boolean): void {
    if (isDead) throw new Error("the process is dead");
    this.runs += 1;
  }

  #host(event: object): void {
    // As much of a host's own event as the fold reads.
    this.log.push({ at: AT, session_id: SESSION, ...event } as never);
  }
}

function createStore(added: () => void): ReturnType<AgentPorts["openMemory"]> {
  const memory: Memory = { memory_id: "mem_0000000000000001", text: "x", created_at: AT };
  return {
    add: () => {
      added();
      return memory;
    },
    ...{ search: () => [], list: () => [], count: () => 0, remove: () => false },
  };
}

function saidIn({ log }: Session): string[] {
  return log.flatMap((event) => {
    if (event.type !== "message.user") return [];
    const [part] = event.content;
    return part?.type === "text" ? [part.text] : [];
  });
}

function turnsOf({ log }: Session, type: "turn.started" | "turn.ended"): unknown[] {
  return log.flatMap((event) => (event.type === type ? [event.turn_id] : []));
}

function resultsOf({ log }: Session): string[] {
  return log.flatMap((event) => (event.type === "tool.result" ? [event.call_id] : []));
}

function endsOf({ log }: Session): string[] {
  return log.flatMap((event) => (event.type === "turn.ended" ? [event.reason] : []));
}

async function settled(session: Session): Promise<void> {
  await waitFor("nothing to be left to do", () => {
    const { activity, talk } = session.fold;
    return activity === "idle" && talk.queue.length === 0;
  });
}

const deeds = fc.array(
  fc.record({
    kind: fc.constantFrom<Kind>("messages", "followup", "followup", "steer"),
    // How far the agent gets before the next one speaks.
    pauses: fc.nat(6),
  }),
  { minLength: 1, maxLength: 8 },
);
/** How many events each life writes before it dies. */
const lives = fc.array(fc.nat(14), { maxLength: 7 });

interface Accepted {
  readonly kind: Kind;
  readonly text: string;
}

/** Says all of it, each again in the next life when a death came first. */
async function speak(
  session: Session,
  all: readonly { readonly kind: Kind; readonly pauses: number }[],
  deaths: number[],
): Promise<Accepted[]> {
  const revive = async () => {
    session.crash();
    await session.live(deaths.shift() ?? FOREVER);
  };
  const accepted: Accepted[] = [];
  for (const [at, { kind, pauses }] of all.entries()) {
    const text = `${kind} ${at}`;
    for (;;) {
      try {
        const answer = await session.ask(kind, text);
        if (answer !== "dead") {
          accepted.push({ kind, text });
          break;
        }
        await revive();
      } catch (error) {
        if (!(error instanceof Fault) || !REFUSALS.includes(error.code)) throw error;
        break;
      }
    }
    for (let n = 0; n < pauses; n += 1) await new Promise(setImmediate);
  }
  // The last life is one that lives on.
  for (let isLast = false; !isLast; ) {
    for (let n = 0; n < 40 && !(await session.isDead); n += 1) await new Promise(setImmediate);
    isLast = deaths.length === 0;
    await revive();
  }
  return accepted;
}

/** A steer is for the turn that runs, so it may come before follow-ups that were there first; all else is in order. */
function expectOrder(said: readonly string[], accepted: readonly Accepted[]): void {
  expect(said.toSorted()).toEqual(accepted.map(({ text }) => text).toSorted());
  for (const [at, earlier] of accepted.entries())
    for (const later of accepted.slice(at + 1)) {
      if (earlier.kind === "followup" && later.kind === "steer") continue;
      expect(said.indexOf(earlier.text)).toBeLessThan(said.indexOf(later.text));
    }
}

test("a steer that an interrupted turn has not taken comes before the follow-ups", async () => {
  const session = new Session();
  await session.live(FOREVER);
  await session.ask("messages", "wait");
  await session.ask("followup", "first");
  await session.ask("steer", "left");
  await session.interrupt();
  expect(await session.ask("followup", "second")).toBe("queued");
  await settled(session);
  expect(saidIn(session)).toEqual(["wait", "left", "first", "second"]);
});

describe("a worker that crashes", () => {
  test("loses, doubles and reorders no message, ends each turn once, and runs no tool twice, whatever it had written", async () => {
    await fc.assert(
      fc.asyncProperty(deeds, lives, async (all, deaths) => {
        const session = new Session();
        // The first life has to begin: before that there is nothing that could wait.
        await session.live(deaths.length === 0 ? FOREVER : 20);
        const accepted = await speak(session, all, [...deaths]);
        await settled(session);
        expectOrder(saidIn(session), accepted);
        expect(turnsOf(session, "turn.ended")).toEqual(turnsOf(session, "turn.started"));
        const results = resultsOf(session);
        expect(new Set(results).size).toBe(results.length);
        expect(session.runs).toBeLessThanOrEqual(results.length);
      }),
      { numRuns: 40 },
    );
  });

  test("leaves its turn to the next life, which ends it and takes up what waits: steers, then follow-ups", async () => {
    const session = new Session();
    await session.live(FOREVER);
    await session.ask("messages", "wait");
    for (const [kind, text] of [
      ["followup", "first"],
      ["steer", "left"],
      ["followup", "second"],
      ["steer", "right"],
    ] as const)
      expect(await session.ask(kind, text)).toBe("queued");
    session.crash();
    expect(session.fold.isRestartDue).toBe(true);
    await session.live(FOREVER);
    expect(await session.ask("followup", "third")).toBe("queued");
    await settled(session);
    expect(saidIn(session)).toEqual(["wait", "left", "right", "first", "second", "third"]);
    expect(endsOf(session)).toEqual(["interrupted", "done", "done", "done", "done"]);
  });

  test("between a turn's end and the next turn leaves no message behind", async () => {
    const session = new Session();
    await session.live(FOREVER);
    await session.ask("messages", "wait");
    await session.ask("followup", "then");
    session.crash();
    // The repair ends the turn, and the life ends before the next turn begins.
    await session.live(1);
    session.crash();
    expect(endsOf(session)).toEqual(["interrupted"]);
    expect(session.fold.isRestartDue).toBe(true);
    await session.live(FOREVER);
    await settled(session);
    expect(saidIn(session)).toEqual(["wait", "then"]);
  });

  test("at rest behind a turn that was interrupted leaves what waits to the next message", async () => {
    const session = new Session();
    await session.live(FOREVER);
    await session.ask("messages", "wait");
    await session.ask("followup", "later");
    await session.interrupt();
    session.crash();
    expect(session.fold.isRestartDue).toBe(false);
    await session.live(FOREVER);
    expect(session.fold.activity).toBe("idle");
    expect(saidIn(session)).toEqual(["wait"]);
    await session.ask("followup", "now");
    await settled(session);
    expect(saidIn(session)).toEqual(["wait", "later", "now"]);
  });

  test("before it began repairs nothing and breaks nothing", async () => {
    const session = new Session();
    await session.live(FOREVER);
    await session.ask("messages", "wait");
    session.crash();
    // Started, and gone before its first line.
    await session.live(0);
    await session.park();
    await session.live(FOREVER);
    expect(endsOf(session)).toEqual(["interrupted"]);
    expect(session.fold.activity).toBe("idle");
  });

  test("again and again is given up after the limit, until a turn has ended by itself", async () => {
    const session = new Session();
    await session.live(FOREVER);
    await session.ask("messages", "wait");
    await session.ask("followup", "then");
    for (let n = 0; n < 9; n += 1) {
      expect(session.fold.isRestartDue).toBe(n > 0);
      session.crash();
      await session.live(0);
    }
    expect(session.fold.isRestartDue).toBe(false);
    expect(session.fold.activity).toBe("idle");
    await session.live(FOREVER);
    await settled(session);
    expect(session.fold.status.crashes).toBe(0);
  });
});
