import type { Caller } from "#app/caller.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { ProcessRead } from "#contract/tools/process.ts";
import type { ToolInput } from "#contract/tools/tools.ts";
import { defined } from "#contract/values/defined.ts";
import { type Draft, readProcess, STILL_RUNNING, toRead } from "./result.ts";
import { openVisibleProcess, type ProcessDeps } from "./visible-process.ts";
import { waitFor } from "./waiting.ts";

type Input = ToolInput<"process_output">;

interface Asked<T> {
  readonly input: T;
  readonly signal: AbortSignal | undefined;
}

/** A cursor on the log: nobody takes anything from anybody else. */
export async function readOutput(
  deps: ProcessDeps,
  caller: Caller,
  { input, signal }: Asked<Input>,
): Promise<ProcessRead> {
  const { process_id, since, max_bytes } = input;
  const wanted = chooseWait(input);
  using handle = await openVisibleProcess(deps, caller, process_id);
  // Refused before the wait, with what would have been right.
  if (since !== undefined) handle.output.read(since, { limit: 1, tail: handle.tail });
  if (wanted.pattern !== undefined) await deps.patterns.create(wanted.pattern);
  const heard =
    wanted.timeout_ms === 0 && wanted.for !== "regex"
      ? undefined
      : await waitFor(deps, caller, {
          session_id: process_id,
          since: since ?? 0,
          ...wanted,
          signal,
        });
  using fresh = await openVisibleProcess(deps, caller, process_id);
  const draft = readProcess(fresh, { clock: deps.clock, since, max_bytes });
  const match =
    wanted.for === "regex" && heard !== undefined
      ? [
          heard.matched
            ? `the pattern matches at offset ${heard.offset}`
            : "the pattern has not come",
        ]
      : [];
  const isLate = draft.running && heard?.matched === false && wanted.timeout_ms > 0;
  return toRead(standing({ ...draft, notes: [...match, ...draft.notes] }, { isLate }));
}

export async function waitForEnd(
  deps: ProcessDeps,
  caller: Caller,
  { input, signal }: Asked<ToolInput<"process_wait">>,
): Promise<ProcessRead> {
  const { timeout, ...rest } = input;
  const wait = timeout ?? deps.defaultWaitMs ?? limits.execute_wait_ms;
  return await readOutput(deps, caller, { input: { ...rest, wait, wait_for: "exit" }, signal });
}

function standing(draft: Draft, { isLate }: { readonly isLate: boolean }): Draft {
  const late = isLate ? { timed_out: true } : {};
  if (!draft.running) return { ...draft, ...late };
  return { ...draft, ...late, notes: [...draft.notes, STILL_RUNNING] };
}

interface Wanted {
  readonly for: "exit" | "output" | "regex";
  readonly timeout_ms: number;
  readonly pattern?: string;
}

/** Who says what to wait for waits for it, also without saying how long. */
function chooseWait({ wait, wait_for, pattern }: Input): Wanted {
  const kind = wait_for ?? (pattern === undefined ? "exit" : "regex");
  const isSaid = wait_for !== undefined || pattern !== undefined;
  const timeout_ms = wait ?? (isSaid ? limits.execute_wait_ms : 0);
  if (kind === "regex" && pattern === undefined) throw wrong("wait_for regex needs a pattern");
  if (kind !== "regex" && pattern !== undefined)
    throw wrong(`a pattern is for wait_for regex, not for ${kind}`);
  return { for: kind, timeout_ms, ...defined({ pattern }) };
}

function wrong(sentence: string): Fault {
  return new Fault("invalid_request", `pattern: ${sentence}`, { details: { field: "pattern" } });
}
