import { expect, test } from "vitest";
import { AgentView } from "#app/agent/agent-view.ts";
import { silentLogger } from "#base/logger.ts";
import { ManualClock } from "#base/manual-clock.ts";
import type { Session } from "#contract/session.ts";
import type { SessionState } from "#contract/session-state.ts";
import type { SessionHandle } from "#session/session-host.ts";
import { WorkerRestarts } from "./worker-restarts.ts";

const SESSION = "ses_0000000000000001";
const yaml = (model: string) =>
  JSON.stringify({ agents: { root: { model, description: "d", instruction: "i" } } });
const killed: SessionState = {
  kind: "exited",
  exit_code: 137,
  signal: "SIGKILL",
  reason: "exited",
  tail: 0,
  final: true,
};

/** A crashed agent with a message that waits, and how often it was restarted. */
class World implements Disposable {
  readonly clock = new ManualClock();
  readonly restarts: WorkerRestarts;
  ensured = 0;
  readonly warned: string[] = [];
  readonly #view = new AgentView(SESSION);
  #end = 0;
  state: SessionState = killed;
  /** Called in place of a start. */
  start: () => void = () => {
    this.state = { kind: "running" };
  };

  constructor({ model = "scripted/echo", keyEnv = {} } = {}) {
    const spec = { yaml: yaml(model), name: "t", base_dir: "/", work_dir: "/", agent: "root" };
    const agents = [{ name: "root", description: "d", model, commands: {} }];
    const more = { sub_agents: [], handoffs: [] };
    this.#write({
      ...{ type: "team.info", name: "t", default_agent: "root", spec },
      agents: agents.map((agent) => ({ ...agent, ...more })),
    });
    const added = { queue_id: "que_1", kind: "followup", content: [{ type: "text", text: "x" }] };
    this.#write({ type: "queue.changed", steer: 0, followup: 1, added });
    const read = async <T>(_handle: SessionHandle, use: (view: AgentView) => T) => use(this.#view);
    const ensure = async () => {
      this.ensured += 1;
      this.start();
    };
    this.restarts = new WorkerRestarts({
      // As much of each as a restart asks for.
      hosts: { of: () => ({ open: async () => this.#handle() }) as never },
      agents: { views: { read }, lives: { ensure }, launching: { keyEnv } } as never,
      clock: this.clock,
      log: { ...silentLogger, warn: (message) => void this.warned.push(message) },
      launcher: { env: {}, umask: undefined },
    });
  }

  /** One crash more, of which the restarts hear. */
  async crash(): Promise<void> {
    this.#write({ type: "session.exited", state: killed });
    this.state = killed;
    this.restarts.consider(this.#session());
    await this.settle();
  }

  /** All that can happen without time passing has happened. */
  async settle(): Promise<void> {
    for (let n = 0; n < 50; n += 1) await Promise.resolve();
  }

  #session(): Session {
    const exited_at = new Date(this.clock.now()).toISOString();
    const status = "working";
    return { session_id: SESSION, kind: "agent", state: this.state, status, exited_at } as Session;
  }

  #handle(): SessionHandle {
    const session = this.#session();
    const now = () => ({ ...session, state: this.state });
    const handle = { [Symbol.dispose]: () => undefined };
    return Object.defineProperty(handle, "session", { get: now }) as unknown as SessionHandle;
  }

  #write(event: object): void {
    this.#end += 1;
    const at = new Date(this.clock.now()).toISOString();
    this.#view.apply({ value: { at, session_id: SESSION, ...event }, end: this.#end } as never);
  }

  [Symbol.dispose](): void {
    this.restarts[Symbol.dispose]();
  }
}

test("the first crash is restarted at once, each further one after a pause twice as long, up to the limit", async () => {
  using world = new World();
  const pauses: number[] = [];
  for (let crash = 1; crash <= 8; crash += 1) {
    await world.crash();
    let pause = 0;
    for (; world.ensured < crash; pause += 500) {
      world.clock.advance(500);
      await world.settle();
    }
    pauses.push(pause);
  }
  expect(pauses).toEqual([0, 500, 1000, 2000, 4000, 8000, 16_000, 30_000]);
  await world.crash();
  world.clock.advance(3_600_000);
  await world.settle();
  expect(world.ensured).toBe(8);
  expect(world.warned).toEqual([
    "an agent crashed too often: its messages wait until it is sent another",
  ]);
});

test("a start that fails is tried again after a pause", async () => {
  using world = new World();
  world.start = () => {
    if (world.ensured < 3) throw new Error("no room");
    world.state = { kind: "running" };
  };
  await world.crash();
  expect(world.ensured).toBe(1);
  for (let n = 0; n < 4; n += 1) {
    world.clock.advance(500);
    await world.settle();
  }
  expect(world.ensured).toBe(3);
});

test("an agent whose key this process does not have is left to one that has it", async () => {
  using poor = new World({ model: "openai/gpt-4o" });
  await poor.crash();
  expect(poor.ensured).toBe(0);
  expect(poor.warned).toEqual([
    "an agent crashed while messages wait, and this process does not have its key",
  ]);
  using rich = new World({ model: "openai/gpt-4o", keyEnv: { OPENAI_API_KEY: "k" } });
  await rich.crash();
  expect(rich.ensured).toBe(1);
});

test("one that parked, was closed or has nothing to do is not restarted", async () => {
  using world = new World();
  for (const state of [
    { ...killed, exit_code: 0, signal: null },
    { ...killed, reason: "user_requested" },
    { kind: "running" },
  ] as const)
    world.restarts.consider({ session_id: SESSION, kind: "agent", state } as Session);
  await world.settle();
  expect(world.ensured).toBe(0);
});
