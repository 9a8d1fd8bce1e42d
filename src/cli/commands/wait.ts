import { parseTime } from "#cli/control/parse-time.ts";
import { openTarget, printJson, targetOptions } from "#cli/control/target-options.ts";
import { type Outcome, waitForAgent } from "#cli/control/wait-agent.ts";
import { checkPattern, parseWanted, type Wanted } from "#cli/control/wait-plan.ts";
import { waitForProcess } from "#cli/control/wait-process.ts";
import { waitForSession } from "#cli/control/wait-session.ts";
import { notice } from "#cli/program/exit.ts";
import { parseOptions, parseSince, refuseWords } from "#cli/program/options.ts";
import { printable } from "#cli/program/printable.ts";
import { LATE_EXIT } from "#cli/terminal/piped.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { SessionState } from "#contract/session-state.ts";

const options = {
  ...targetOptions,
  for: { type: "string" },
  text: { type: "string" },
  regex: { type: "string" },
  idle: { type: "string" },
  since: { type: "string" },
  timeout: { type: "string" },
} as const;

/** The session has ended, and what was waited for has not come. */
const ENDED_EXIT = 1;

/** `reins wait`: until it has ended, or has come as far as somebody wants it. */
export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, options);
  const { json: _json, timeout: _timeout, ...others } = values;
  const isPlain = Object.values(others).every((value) => value === undefined);
  const [word = values.to, ...rest] = positionals;
  if (isPlain && ((word ?? "").trim() === "" || rest.length > 0))
    throw new Fault("invalid_request", "say which: reins wait ID (reins ps lists them)");
  refuseWords(rest);
  const wanted = parseWanted(values);
  if (wanted.for === "regex") await checkPattern(wanted.pattern);
  const since = parseSince(values.since);
  const timeoutMs = parseTime(values.timeout, "timeout") ?? limits.duration_ms;
  const until = performance.now() + timeoutMs;
  await using target = await openTarget({ ...values, to: word });
  const { session } = target;
  // An agent is not a process; the end of its session is waited for instead.
  if (isPlain && session.kind !== "agent")
    return await waitForProcess(target, { timeout: timeoutMs, json: values.json === true });
  const waiting = { ...target, since, leftMs: () => Math.max(0, until - performance.now()) };
  // What an agent prints is nothing: it is heard by its events.
  const isHeard = wanted.for !== "exit" && wanted.for !== "needs_answer";
  const outcome =
    session.kind === "agent" && isHeard
      ? await waitForAgent(waiting, wanted)
      : await waitForSession(waiting, wanted);
  if (values.json === true) printJson({ session_id: session.session_id, ...outcome });
  else if (outcome.matched && outcome.text !== undefined)
    process.stdout.write(`${printable(outcome.text)}\n`);
  return settle(session.session_id, wanted, outcome);
}

function settle(session_id: string, wanted: Wanted, { matched, state, ended }: Outcome): number {
  if (matched) return wanted.for === "exit" ? codeOf(state) : 0;
  if (ended) {
    notice(`${session_id} has ended, and what was waited for did not come`);
    return ENDED_EXIT;
  }
  notice(`${session_id} goes on; what was waited for did not come in time`);
  return LATE_EXIT;
}

function codeOf(state: SessionState | undefined): number {
  return state?.kind === "exited" ? (state.exit_code ?? 1) : 1;
}
