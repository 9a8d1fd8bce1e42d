import { followOutput } from "#app/follow-output.ts";
import { describeExit, OutputEvents } from "#app/shell/output-events.ts";
import type { Clock } from "#base/clock.ts";
import { pause } from "#base/pause.ts";
import { isLive } from "#contract/ended.ts";
import { asFault } from "#contract/fault.ts";
import type { StreamItem } from "#contract/operations.ts";
import type { ShellEvent } from "#contract/shell.ts";
import type { SessionHandle, SessionHosts } from "#session/session-host.ts";

interface FollowCommand {
  readonly session_id: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** How often the next host is looked for after one has gone: the old one's socket may still be there for a moment. */
const REOPEN_TRIES = 20;
const REOPEN_MS = 100;

/** A command from its first byte to its exit, told like a run of a shell. Who stops listening does not end it. */
export async function* followCommand(
  hosts: SessionHosts,
  command: FollowCommand,
): AsyncGenerator<StreamItem<ShellEvent>, void, void> {
  const { session_id, signal } = command;
  const events = new OutputEvents();
  let since = 0;
  for (let isFirst = true; ; isFirst = false) {
    using handle = isFirst
      ? await hosts.of(session_id).open(session_id)
      : await reopen(hosts, command);
    if (isFirst) yield { data: { type: "run", session_id: handle.session.session_id } };
    const options = { since, until: "exit", signal } as const;
    for await (const chunk of followOutput(handle, options)) {
      since = chunk.kind === "gap" ? chunk.to : chunk.offset + chunk.bytes.length;
      yield* events.push(chunk);
    }
    if (signal.aborted) return;
    // A host that went away: the next one says what became of the command.
    if (isLive(handle.session)) continue;
    yield* events.end();
    yield describeExit(handle.session.state, { tail: since, state_saved: false });
    return;
  }
}

async function reopen(
  hosts: SessionHosts,
  { session_id, clock, signal }: FollowCommand,
): Promise<SessionHandle> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await hosts.of(session_id).open(session_id);
    } catch (error) {
      const isGone = asFault(error).code === "host_unavailable";
      if (!isGone || tries >= REOPEN_TRIES || signal.aborted) throw error;
      await pause(clock, REOPEN_MS, signal);
    }
  }
}
