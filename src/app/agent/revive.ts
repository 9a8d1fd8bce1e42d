import type { Where } from "#app/caller.ts";
import type { AgentSpec } from "#contract/agent/spec.ts";
import { isLive } from "#contract/ended.ts";
import { asFault, Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import { defined } from "#contract/values/defined.ts";
import type { SessionHandle } from "#session/session-host.ts";
import type { AgentViews } from "./agent-views.ts";
import { type Launch, type LaunchDeps, planLaunch } from "./launch.ts";
import { isWorkerEnded, type WorkerLink, type WorkerLinkDeps } from "./worker-link.ts";

interface AgentLivesDeps extends WorkerLinkDeps, LaunchDeps {
  readonly worker: WorkerLink;
  readonly views: AgentViews;
}

/** Whoever started a worker sends its first line at once; after this they have gone, and we send it. */
const INIT_WAIT_MS = 10_000;
/** Others may bring it back, lose it and so on; after so many looks the caller is told to come again. */
const LOOKS = 50;
/** How long somebody else's revival is left alone before the next look. */
const LOOK_MS = 200;
const LAST_WORDS_BYTES = 4000;

/** The settings that a worker takes over from the process that starts it. */
export type Launcher = Omit<Where, "work_dir">;

interface Asker {
  readonly where: Launcher;
  readonly spec: AgentSpec | undefined;
}

interface Planned {
  readonly launch: Launch;
  readonly unsaid?: AgentSpec;
}

type Look = "ready" | "unbegun" | "look again";

/**
 * Makes sure that a session has a worker that can be asked: one whose first line has been answered.
 *
 *   ended → `session.revive` → `init` → ready        somebody else revives: wait for the answer to their `init`
 */
export class AgentLives {
  readonly #deps: AgentLivesDeps;
  /** One at a time for each session; all who come meanwhile wait for it. */
  readonly #under = new Map<string, Promise<void>>();

  constructor(deps: AgentLivesDeps) {
    this.#deps = deps;
  }

  /** The first life: nothing was said to it yet. */
  begin(sessionId: string, launch: Launch, spec: AgentSpec): Promise<void> {
    return this.#once(sessionId, () => this.#init(sessionId, { keys: { ...launch.keys }, spec }));
  }

  /**
   * Throws `already_exited` when it was closed for good. One that has never begun, because whoever made it died before
   * its first line, begins with the spec of who asks for it once more.
   */
  ensure(sessionId: string, where: Launcher, spec?: AgentSpec): Promise<void> {
    return this.#once(sessionId, () => this.#ensure(sessionId, { where, spec }));
  }

  #once(sessionId: string, run: () => Promise<void>): Promise<void> {
    const known = this.#under.get(sessionId);
    if (known !== undefined) return known;
    const running = run().finally(() => this.#under.delete(sessionId));
    this.#under.set(sessionId, running);
    return running;
  }

  async #ensure(sessionId: string, asker: Asker): Promise<void> {
    using handle = await this.#deps.hosts.of(sessionId).open(sessionId);
    for (let look = 0; look < LOOKS; look += 1) {
      const found = await this.#look(handle, asker);
      if (found === "ready") return;
      if (found === "look again") {
        await this.#pause(handle);
        continue;
      }
      const { launch, unsaid } = await this.#plan(handle, asker);
      const more = defined({ spec: unsaid });
      await this.#init(sessionId, { keys: { ...launch.keys }, ...more });
      return;
    }
    throw new Fault("busy", "the agent is being brought back by somebody else; try again");
  }

  async #look(handle: SessionHandle, asker: Asker): Promise<Look> {
    const { session_id } = handle.session;
    const host = this.#deps.hosts.of(session_id);
    const session = await host.call("session.get", { session_id });
    if (isLive(session)) return await this.#awaitInit(handle);
    const { argv, env } = (await this.#plan(handle, asker)).launch;
    const { umask, open_files } = asker.where;
    try {
      await host.call("session.revive", { session_id, argv, env, umask, open_files });
      return "unbegun";
    } catch (error) {
      // Somebody else was faster.
      if (asFault(error).code === "busy") return "look again";
      throw error;
    }
  }

  /** Of a worker that runs: until its first line was answered, or nobody seems to send one. */
  async #awaitInit(handle: SessionHandle): Promise<Look> {
    const waited = new AbortController();
    using _timer = this.#deps.clock.timer(INIT_WAIT_MS, () => waited.abort());
    const { session } = handle;
    for (;;) {
      const seen = handle.eventsTail;
      const worker = await this.#deps.views.read(handle, (view) => view.worker);
      if (worker === "ready") return "ready";
      if (worker === "refused" || waited.signal.aborted) return "unbegun";
      if (handle.state === "closed" || (handle.session !== session && !isLive(handle.session)))
        return "look again";
      await handle.until(
        ({ eventsTail, session: newest }) =>
          eventsTail > seen || (newest !== session && !isLive(newest)),
        { signal: waited.signal },
      );
    }
  }

  async #pause(handle: SessionHandle): Promise<void> {
    const waited = new AbortController();
    using _timer = this.#deps.clock.timer(LOOK_MS, () => waited.abort());
    await handle.changed({ signal: waited.signal });
  }

  /** By what its log says, or for one that has never begun by what it is asked to be, which it has yet to be told. */
  async #plan(handle: SessionHandle, asker: Asker): Promise<Planned> {
    const { spec, model_overrides } = await this.#deps.views.read(handle, ({ fold }) => ({
      spec: fold.spec,
      model_overrides: { ...fold.spec?.model_overrides, ...fold.model_overrides },
    }));
    const { where, spec: unsaid } = asker;
    if (spec !== undefined)
      return { launch: planLaunch(this.#deps, where, { ...spec, model_overrides }) };
    if (unsaid === undefined) throw neverBegan(handle.session);
    return { launch: planLaunch(this.#deps, where, unsaid), unsaid };
  }

  async #init(
    session_id: string,
    input: { readonly keys: Record<string, string>; readonly spec?: AgentSpec },
  ): Promise<void> {
    try {
      await this.#deps.worker.ask({ session_id, type: "init", input });
    } catch (error) {
      using handle = await this.#deps.hosts.of(session_id).open(session_id);
      // Two who sent a first line: one of them is enough.
      if ((await this.#deps.views.read(handle, (view) => view.worker)) === "ready") return;
      throw isWorkerEnded(error) ? neverAnswered(handle) : error;
    }
  }
}

function neverBegan({ session_id }: Session): Fault {
  return new Fault("already_exited", "this agent has never begun, so it cannot go on", {
    details: { session_id },
  });
}

/** What it said last says why better than we can; the stack below it is for its log. */
function neverAnswered({ output, session }: SessionHandle): Fault {
  const tail = output.tail();
  const from = Math.max(output.first(), tail - LAST_WORDS_BYTES);
  const chunk = from < tail ? output.read(from, { limit: LAST_WORDS_BYTES, tail }) : undefined;
  const text = chunk?.kind === "bytes" ? Buffer.from(chunk.bytes).toString("utf8") : "";
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const said = lines.findLast((line) => line.startsWith("reins: ")) ?? lines.at(-1);
  const why = said === undefined ? "" : `: ${said.replace(/^reins: /, "")}`;
  const details = { session_id: session.session_id };
  const signal = session.state.kind === "exited" ? session.state.signal : null;
  // Killed from outside, as the kernel does when memory is short: nothing is wrong with what was asked for.
  if (signal !== null && said === undefined)
    return new Fault(
      "overloaded",
      `the agent's worker was killed by ${signal} before it began; try again in a moment`,
      { details: { ...details, signal } },
    );
  const message = `the agent's worker ended before it began${why}`.slice(0, limits.detail_chars);
  return new Fault("spawn_failed", message, { details });
}
