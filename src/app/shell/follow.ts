import { followOutput } from "#app/follow-output.ts";
import { isLive } from "#contract/ended.ts";
import type { StreamItem } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import type { ShellEvent } from "#contract/shell.ts";
import { endOf, type LogChunk } from "#log/log-source.ts";
import { findRunId } from "./bash-driver.ts";
import { endClaim, type ShellDeps } from "./claim.ts";
import { describeExit, OutputEvents } from "./output-events.ts";

interface FollowRun {
  readonly shell_id: string;
  readonly session_id: string;
  /** The offset to go on from; absent = from the start. */
  readonly since?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A run from an offset on: `run`, what it printed and prints, `exit`. Who stops listening does not end it. */
export async function* followRun(
  deps: ShellDeps,
  { shell_id, session_id, since = 0, signal }: FollowRun,
): AsyncGenerator<StreamItem<ShellEvent>, void, void> {
  let next = since;
  let isFirst = true;
  const events = new OutputEvents();
  for (;;) {
    using handle = await deps.hosts.of(session_id).open(session_id);
    if (isFirst) yield { data: { type: "run", session_id: handle.session.session_id } };
    isFirst = false;
    const options = { since: next, until: "exit", ...(signal && { signal }) } as const;
    for await (const chunk of followOutput(handle, options)) {
      const kept = beforeExit(chunk, handle.session);
      if (kept === undefined) break;
      next = endOf(kept);
      yield* events.push(kept);
    }
    if (signal?.aborted === true) return;
    // A host that went away: the next one says what became of the run.
    if (isLive(handle.session)) continue;
    yield* events.end();
    yield describeEnd(deps, shell_id, handle.session);
    return;
  }
}

/** What background jobs print after the shell's exit is in the log, but not part of the run. */
function beforeExit(chunk: LogChunk, { state }: Session): LogChunk | undefined {
  if (state.kind !== "exited" || endOf(chunk) <= state.tail) return chunk;
  if (chunk.kind === "gap")
    return chunk.from < state.tail ? { ...chunk, to: state.tail } : undefined;
  if (chunk.offset >= state.tail) return undefined;
  return { ...chunk, bytes: chunk.bytes.subarray(0, state.tail - chunk.offset) };
}

/** The claim is ended first: who has seen the end can run the next command. */
function describeEnd(deps: ShellDeps, shellId: string, session: Session): StreamItem<ShellEvent> {
  const run_id = findRunId(session.argv);
  const state_saved = run_id !== undefined && endClaim(deps, shellId, { run_id, session });
  const { state } = session;
  const tail = state.kind === "exited" ? state.tail : session.tail;
  return describeExit(state, { tail, state_saved });
}
