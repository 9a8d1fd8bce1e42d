import type { Hook, HookEvent, Hooks } from "#agent/team/team.ts";
import type { Clock } from "#base/clock.ts";
import type { AgentEventBody } from "#contract/agent/events.ts";
import { limits } from "#contract/limits.ts";
import { defined } from "#contract/values/defined.ts";
import { failed, type HookAnswer, type HookInput, readAnswer } from "./hook-answer.ts";
import type { RunCommand } from "./run-command.ts";

/** What a hook is told about the event, on its stdin, besides session_id, cwd and hook_event_name. */
export interface HookPayload {
  readonly agent: string;
  readonly tool_name?: string | undefined;
  readonly call_id?: string | undefined;
  readonly tool_input?: unknown;
  readonly tool_output?: unknown;
  readonly user_text?: string | undefined;
  readonly stop_reason?: string | undefined;
}

/** What all hooks of an event came to, in the order of the file. */
interface HookOutcome {
  /** Why the event is not to go on: of the first hook that said so. */
  readonly blocked?: string | undefined;
  /** Why the whole run is not to go on; `blocked` is there too. */
  readonly stop?: string | undefined;
  /** Instead of the tool's input or the user's text, of the last hook that changed it. Nobody has checked it yet. */
  readonly input?: HookInput | undefined;
  /** For the model to read. */
  readonly context: readonly string[];
  /** For `Rules.hook`; a hook that denies has `blocked` the call. */
  readonly permission?: "allow" | "ask" | undefined;
  /** For people. */
  readonly system_message?: string | undefined;
}

export interface HookRunner {
  /** Rejects only when aborted: a hook that fails is an outcome. */
  run(
    event: HookEvent,
    payload: HookPayload,
    options: { readonly signal: AbortSignal },
  ): Promise<HookOutcome>;
}

interface HookDeps {
  readonly team: Hooks;
  /** Those of the agent that acts; they come after the team's. */
  readonly ofAgent: (agent: string) => Hooks | undefined;
  readonly runCommand: RunCommand;
  readonly clock: Clock;
  readonly emit: (body: AgentEventBody) => void;
  readonly work_dir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly session_id: string;
}

/** How many hooks of one event run at the same time. */
const AT_ONCE = 8;
const NOTHING: HookOutcome = { context: [] };

export function createHooks(deps: HookDeps): HookRunner {
  return {
    async run(event, payload, { signal }) {
      const chosen = chooseHooks(deps, event, payload);
      if (chosen.length === 0) return NOTHING;
      signal.throwIfAborted();
      const stdin = JSON.stringify({
        ...payload,
        session_id: deps.session_id,
        cwd: deps.work_dir,
        hook_event_name: event,
      });
      const answers = await runAll(chosen, (hook) =>
        runHook(deps, hook, { event, agent: payload.agent, stdin, signal }),
      );
      signal.throwIfAborted();
      return combine(answers);
    },
  };
}

/** The same command runs once, whoever names it how often. */
function chooseHooks(deps: HookDeps, event: HookEvent, payload: HookPayload): readonly Hook[] {
  const named = [...(deps.team[event] ?? []), ...(deps.ofAgent(payload.agent)?.[event] ?? [])];
  const fitting = named.filter((hook) => fits(hook, payload.tool_name));
  return [...Map.groupBy(fitting, (hook) => hook.command).values()].flatMap((same) =>
    same.slice(0, 1),
  );
}

function fits({ matcher }: Hook, tool: string | undefined): boolean {
  if (matcher === undefined || tool === undefined) return true;
  const flags = matcher.flags.replaceAll(/[gy]/g, "");
  return new RegExp(`^(?:${matcher.source})$`, flags).test(tool);
}

/** Answers are in the order of the hooks, whichever is done first. */
async function runAll(
  hooks: readonly Hook[],
  run: (hook: Hook) => Promise<HookAnswer>,
): Promise<readonly HookAnswer[]> {
  const answers: HookAnswer[] = [];
  const waiting = hooks.entries();
  const work = async () => {
    for (const [index, hook] of waiting) answers[index] = await run(hook);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, hooks.length) }, work));
  return answers;
}

interface Occasion {
  readonly event: HookEvent;
  readonly agent: string;
  readonly stdin: string;
  readonly signal: AbortSignal;
}

/** Never rejects, so that each hook that has started also ends in the log. */
async function runHook(deps: HookDeps, hook: Hook, occasion: Occasion): Promise<HookAnswer> {
  const { event, agent } = occasion;
  const { command } = hook;
  const named = { agent, hook: event, command };
  const since = deps.clock.monotonic();
  deps.emit({ type: "hook.started", ...named });
  const answer = await readHook(deps, hook, occasion);
  const { failure, blocked } = answer;
  const message = failure ?? answer.system_message;
  deps.emit({
    type: "hook.ended",
    ...named,
    duration_ms: Math.round(deps.clock.monotonic() - since),
    ...defined({ message }),
  });
  // Whoever aborted knows why nothing comes of it.
  if (occasion.signal.aborted) return answer;
  if (blocked !== undefined) deps.emit({ type: "hook.blocked", ...named, message: blocked });
  else if (failure !== undefined) {
    deps.emit({ type: "warning", agent, code: "hook_failed", message: `${failure} (${command})` });
  }
  return answer;
}

async function readHook(
  { runCommand, work_dir, env }: HookDeps,
  hook: Hook,
  { event, stdin, signal }: Occasion,
): Promise<HookAnswer> {
  try {
    const run = await runCommand(hook.command, {
      stdin,
      cwd: work_dir,
      env,
      timeout_ms: hook.timeout_ms,
      output_limit: limits.hook_output_bytes,
      signal,
    });
    return readAnswer(event, run);
  } catch (error) {
    if (signal.aborted) return failed(event, "it was stopped");
    return failed(event, error instanceof Error ? error.message : String(error));
  }
}

function combine(answers: readonly HookAnswer[]): HookOutcome {
  const permissions = answers.map((answer) => answer.permission);
  const messages = answers.flatMap((answer) => answer.system_message ?? []);
  return {
    blocked: answers.find((answer) => answer.blocked !== undefined)?.blocked,
    stop: answers.find((answer) => answer.stop !== undefined)?.stop,
    input: answers.findLast((answer) => answer.input !== undefined)?.input,
    context: answers.flatMap((answer) => answer.context ?? []),
    permission: (["ask", "allow"] as const).find((each) => permissions.includes(each)),
    system_message: messages.length === 0 ? undefined : messages.join("\n"),
  };
}
