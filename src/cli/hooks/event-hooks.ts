import { EVERY_EVENT } from "#app/event-types.ts";
import type { Clock } from "#base/clock.ts";
import { type FollowedEvent, followEvents } from "#cli/control/follow-events.ts";
import { printable } from "#cli/program/printable.ts";
import { asFault } from "#contract/fault.ts";
import type { OperationCalls } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import type { EventHook } from "./event-hook.ts";
import { Slots } from "./slots.ts";

/** What runs a line in a shell; loaded only where there are hooks. */
type RunCommand = ReturnType<typeof import("#agent/hooks/run-command.ts")["createRunCommand"]>;
type CommandRun = Awaited<ReturnType<RunCommand>>;

/** Commands that run at the same time. */
const AT_ONCE = 4;
/** Of one command, for one event. */
const COMMAND_MS = 30_000;
/** At the end: for what has not been told yet. */
const FLUSH_MS = 10_000;
/** Of what a command printed, in bytes; said when it has failed. */
const OUTPUT_BYTES = 4096;
/** Of one hook: one that always fails need not say so for ever. */
const FAILURES_SAID = 20;

export interface HookedRun {
  readonly client: OperationCalls;
  readonly session_id: Session["session_id"];
  readonly since: number;
}

export interface HookPorts {
  readonly runCommand: RunCommand;
  readonly clock: Clock;
  readonly shell: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Takes what went wrong. */
  readonly say: (sentence: string) => void;
  /** Override for tests. */
  readonly commandMs?: number;
  readonly flushMs?: number;
}

/**
 * Each hook is a cursor on the events: it is told of one after the other and reads no faster than its command works,
 * so nothing is held here and the run never waits. Disposing tells what is left, as far as there is time for it.
 */
export function openEventHooks(
  hooks: readonly EventHook[],
  run: HookedRun,
  ports: HookPorts,
): AsyncDisposable {
  const live = new AbortController();
  const ending = new AbortController();
  const slots = new Slots(AT_ONCE);
  const told = hooks.map((hook) => {
    const listener = new Listener(hook, ports, { slots, signal: ending.signal });
    return tellAll(run, listener, { live: live.signal, ending: ending.signal });
  });
  return {
    [Symbol.asyncDispose]: async () => {
      live.abort();
      using _late = ports.clock.timer(ports.flushMs ?? FLUSH_MS, () => ending.abort());
      await Promise.all(told);
      if (ending.signal.aborted)
        ports.say("--on-event: there was no time left to tell the hooks everything");
    },
  };
}

interface Phases {
  /** Aborted when only what has happened by then is still told. */
  readonly live: AbortSignal;
  readonly ending: AbortSignal;
}

/** As it happens; then what has happened up to the end. Never rejects. */
async function tellAll(run: HookedRun, listener: Listener, { live, ending }: Phases) {
  const { client, session_id } = run;
  let since = run.since;
  try {
    for await (const { id, ...event } of followEvents(client, run, { since, signal: live })) {
      await listener.hear(event);
      since = id;
    }
  } catch (error) {
    if (!live.aborted) return listener.complain(asFault(error).message);
  }
  if (!live.aborted) return;
  try {
    const rest = { session_id, since, follow: false };
    for await (const { data, text } of client.stream("session.events", rest, { signal: ending }))
      await listener.hear({ data, text: text ?? JSON.stringify(data) });
  } catch (error) {
    if (!ending.aborted) listener.complain(asFault(error).message);
  }
}

interface Hearing {
  readonly slots: Slots;
  /** Ends a command that is under way. */
  readonly signal: AbortSignal;
}

type HeardEvent = Pick<FollowedEvent, "data" | "text">;

class Listener {
  readonly #hook: EventHook;
  readonly #ports: HookPorts;
  readonly #hearing: Hearing;
  #failures = 0;

  constructor(hook: EventHook, ports: HookPorts, hearing: Hearing) {
    this.#hook = hook;
    this.#ports = ports;
    this.#hearing = hearing;
  }

  async hear(event: HeardEvent): Promise<void> {
    const { type } = this.#hook;
    if (type !== EVERY_EVENT && type !== event.data.type) return;
    const { slots, signal } = this.#hearing;
    await slots.use(async () => {
      if (!signal.aborted) await this.#tell(event);
    });
  }

  complain(why: string): void {
    const { type, command } = this.#hook;
    this.#failures += 1;
    if (this.#failures > FAILURES_SAID) return;
    const last = this.#failures === FAILURES_SAID ? "; more of its failures are not told" : "";
    this.#ports.say(`--on-event ${type}=${command}: ${why}${last}`);
  }

  async #tell({ data, text }: HeardEvent): Promise<void> {
    const { runCommand, shell, cwd, env, commandMs = COMMAND_MS } = this.#ports;
    const { signal } = this.#hearing;
    try {
      const done = await runCommand(this.#hook.command, {
        ...{ stdin: `${text}\n`, shell, cwd, env, signal },
        timeout_ms: commandMs,
        output_limit: OUTPUT_BYTES,
      });
      const why = describeFailure(done, commandMs);
      if (why !== undefined) this.complain(`${data.type}: ${why}`);
    } catch (error) {
      if (!signal.aborted) this.complain(asFault(error).message);
    }
  }
}

function describeFailure(done: CommandRun, commandMs: number): string | undefined {
  const { exit_code, signal, timed_out, stdout, stderr } = done;
  if (exit_code === 0 && !timed_out) return undefined;
  const ended =
    exit_code === null ? `was ended by ${signal ?? "a signal"}` : `ended with ${exit_code}`;
  const why = timed_out ? `took longer than ${commandMs / 1000} s` : ended;
  const said = Buffer.from(`${stderr}${stdout}`).subarray(0, OUTPUT_BYTES).toString("utf8").trim();
  return said === "" ? `the command ${why}` : `the command ${why}: ${printable(said)}`;
}
