import { addAbortListener } from "node:events";
import type { ToolsetState } from "#agent/toolset.ts";
import { Emitter } from "#base/emitter.ts";
import { messageOf } from "#base/errno.ts";
import type { Connection } from "./connection.ts";
import { describeTools, type ServerTool } from "./describe-tools.ts";
import { openConnection } from "./open-connection.ts";
import type { McpConfig, McpDeps } from "./server.ts";

/**
 * stopped ──start, use──▶ starting ──▶ ready ──it ended──▶ stopped, its tools are kept; the next use starts it again
 *                            │           ╰──for the RESTARTS_MOST-th time in a row──▶ failed
 *                            ╰──▶ failed; when it was ready before: stopped, until RESTARTS_MOST is reached
 *
 * Only `restart` leaves failed. An answer of the server makes it as good as new.
 */
type Life =
  | { readonly kind: "stopped"; readonly problem: string | undefined }
  | { readonly kind: "starting"; readonly stop: AbortController; readonly over: Promise<void> }
  | { readonly kind: "ready"; readonly connection: Connection }
  | { readonly kind: "failed"; readonly problem: string };

interface Ready {
  readonly connection: Connection;
  readonly tools: readonly ServerTool[];
}

export const RESTARTS_MOST = 5;
export const BACKOFF_MS = 250;

/** One server over all its lives. */
export class Lifecycle implements AsyncDisposable {
  readonly #config: McpConfig;
  readonly #deps: McpDeps;
  readonly #changed: Emitter<void>;
  readonly #end = new AbortController();
  #life: Life = { kind: "stopped", problem: undefined };
  #tools: readonly ServerTool[] = [];
  #instruction: string | undefined;
  #restarting: Promise<void> | undefined;
  #refreshing: Promise<void> | undefined;
  /** The connections that were lost and are being closed. */
  #leaving: Promise<void> = Promise.resolve();
  #isStale = false;
  /** In a row. */
  #failures = 0;
  #failedAt = 0;

  constructor(config: McpConfig, deps: McpDeps) {
    this.#config = config;
    this.#deps = deps;
    this.#changed = new Emitter((error) => deps.log.error("a listener failed", { error }));
  }

  get state(): ToolsetState {
    return this.#life.kind;
  }

  get problem(): string | undefined {
    return "problem" in this.#life ? this.#life.problem : undefined;
  }

  get tools(): readonly ServerTool[] {
    return this.#tools;
  }

  /** What the server says of itself. */
  get instruction(): string | undefined {
    return this.#instruction;
  }

  onChanged(listener: () => void): Disposable {
    return this.#changed.on(listener);
  }

  async start(): Promise<void> {
    if (this.#life.kind === "starting") await this.#life.over;
    else if (this.#life.kind === "stopped") await this.#open();
  }

  restart(): Promise<void> {
    this.#restarting ??= this.#restart().finally(() => {
      this.#restarting = undefined;
    });
    return this.#restarting;
  }

  /** The server, started again when it has ended; undefined when it has failed. Throws only what the signal says. */
  async use(signal: AbortSignal): Promise<Connection | undefined> {
    const ended = AbortSignal.any([signal, this.#end.signal]);
    if (this.#restarting !== undefined) await orAborted(this.#restarting, ended);
    for (;;) {
      signal.throwIfAborted();
      if (this.#end.signal.aborted || this.#life.kind === "failed") return undefined;
      if (this.#life.kind === "ready") return this.#life.connection;
      await orAborted(this.#comeBack(ended), ended);
    }
  }

  /** The server has answered. */
  succeeded(): void {
    this.#failures = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#restarting;
    await this.#close();
    await this.#refreshing;
    await this.#leaving;
  }

  async #comeBack(signal: AbortSignal): Promise<void> {
    if (this.#life.kind === "starting") return await this.#life.over;
    const pause = this.#failures === 0 ? 0 : BACKOFF_MS * 2 ** (this.#failures - 1);
    const left = this.#failedAt + pause - this.#deps.clock.monotonic();
    if (left <= 0 || this.#failures === 0) return await this.#open();
    const { promise: passed, resolve } = Promise.withResolvers<void>();
    using _timer = this.#deps.clock.timer(left, resolve);
    await orAborted(passed, signal);
  }

  async #restart(): Promise<void> {
    await this.#close();
    this.#failures = 0;
    await this.#open();
  }

  async #close(): Promise<void> {
    const life = this.#life;
    if (life.kind === "starting") {
      life.stop.abort();
      await life.over;
    }
    const connection = this.#life.kind === "ready" ? this.#life.connection : undefined;
    this.#enter({ kind: "stopped", problem: undefined });
    await connection?.[Symbol.asyncDispose]();
  }

  /** Does not throw: what went wrong is the next state. */
  async #open(): Promise<void> {
    if (this.#end.signal.aborted) return;
    const stop = new AbortController();
    const { promise: over, resolve } = Promise.withResolvers<void>();
    this.#enter({ kind: "starting", stop, over });
    try {
      // Also when we end: a restart that is under way is waited for.
      const ended = AbortSignal.any([stop.signal, this.#end.signal]);
      const { connection, tools } = await this.#connect(ended);
      this.#tools = tools;
      this.#instruction = connection.instruction;
      this.#enter({ kind: "ready", connection });
      if (this.#isStale) this.#refresh();
    } catch (error) {
      if (stop.signal.aborted || this.#end.signal.aborted)
        this.#enter({ kind: "stopped", problem: undefined });
      else this.#fail(messageOf(error), { canComeBack: this.#failures > 0 });
    } finally {
      resolve();
    }
  }

  async #connect(signal: AbortSignal): Promise<Ready> {
    this.#isStale = false;
    // Until we have it, nobody else has: what it says before is seen in what it lists.
    let connection: Connection | undefined;
    await using stack = new AsyncDisposableStack();
    connection = stack.use(
      await openConnection({
        config: this.#config,
        deps: this.#deps,
        signal,
        events: {
          onToolsChanged: () => this.#refresh(),
          onLost: (problem) => this.#lose(connection, problem),
        },
      }),
    );
    const tools = this.#describe(await connection.listTools(signal));
    signal.throwIfAborted();
    stack.move();
    return { connection, tools };
  }

  #refresh(): void {
    this.#isStale = true;
    if (this.#life.kind !== "ready" || this.#refreshing !== undefined) return;
    this.#refreshing = this.#listAgain().finally(() => {
      this.#refreshing = undefined;
    });
  }

  async #listAgain(): Promise<void> {
    while (this.#isStale && this.#life.kind === "ready") {
      this.#isStale = false;
      const life = this.#life;
      try {
        const tools = this.#describe(await life.connection.listTools(this.#end.signal));
        if (this.#life !== life || isSame(tools, this.#tools)) continue;
        this.#tools = tools;
        this.#changed.emit();
      } catch (error) {
        // The tools that it had are likely to be there still.
        const { name: toolset } = this.#config;
        this.#deps.log.warn("tools were not listed", { toolset, error: messageOf(error) });
      }
    }
  }

  #describe(listed: readonly unknown[]): readonly ServerTool[] {
    const { name: toolset, tools: only } = this.#config;
    return describeTools(listed, { toolset, only, log: this.#deps.log });
  }

  #lose(connection: Connection | undefined, problem: string): void {
    if (this.#life.kind !== "ready" || this.#life.connection !== connection) return;
    const left = connection[Symbol.asyncDispose]();
    this.#leaving = Promise.all([this.#leaving, left]).then(() => undefined);
    this.#fail(problem, { canComeBack: true });
  }

  #fail(problem: string, { canComeBack }: { readonly canComeBack: boolean }): void {
    this.#failures += 1;
    this.#failedAt = this.#deps.clock.monotonic();
    if (canComeBack && this.#failures < RESTARTS_MOST) {
      this.#enter({ kind: "stopped", problem: `${problem}; the next use starts it again` });
      return;
    }
    this.#tools = [];
    this.#instruction = undefined;
    const times = canComeBack ? `; that was the ${this.#failures}th time in a row` : "";
    this.#enter({ kind: "failed", problem: `${problem}${times}` });
  }

  #enter(life: Life): void {
    this.#life = life;
    this.#changed.emit();
  }
}

function isSame(a: readonly ServerTool[], b: readonly ServerTool[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Comes back in either case; what is waited for goes on without us. */
async function orAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  using _listening = addAbortListener(signal, () => resolve());
  await Promise.race([promise, aborted]);
}
