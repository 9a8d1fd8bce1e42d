import { randomUUID } from "node:crypto";
import { isAbsolute } from "node:path";
import type { EventHook } from "#cli/hooks/event-hook.ts";
import { openRunHooks } from "#cli/hooks/run-hooks.ts";
import { runPiped } from "#cli/piped.ts";
import { openRemotePlace } from "#cli/place/place.ts";
import { choosePlace } from "#cli/place/records.ts";
import { parseRemote } from "#cli/place/remote.ts";
import { attachTerminal } from "#cli/terminal/attached.ts";
import { Fault } from "#contract/fault.ts";
import type { OperationInput } from "#contract/operations.ts";

export interface RemoteRun {
  readonly remote: string;
  readonly request: OperationInput<"session.create">;
  readonly hooks: readonly EventHook[];
  readonly isDetached: boolean;
  readonly isAttached: boolean;
  readonly json: boolean;
  readonly forwardsInput: boolean;
}

/** `reins run --remote`: a command or a shell of that server, at this terminal or in this pipeline. */
export async function runThere(run: RemoteRun): Promise<number> {
  const { remote, request, json, forwardsInput } = run;
  parseRemote(remote);
  checkPlaceOf(request);
  await using place = await openRemotePlace({ ...choosePlace({ remote }), remote });
  // With a key it is started once, also when the first answer is lost.
  const session = await place.call("session.create", {
    ...request,
    idempotency_key: `run_${randomUUID()}`,
  });
  const { session_id } = session;
  if (run.isDetached) {
    process.stdout.write(`${json ? JSON.stringify(session) : session_id}\n`);
    return 0;
  }
  await using _hooks = await openRunHooks(run.hooks, { session_id, remote, isNew: true });
  if (!run.isAttached) return await runPiped(place, session, { since: 0, json, forwardsInput });
  const seat = { role: "controller", takeover: false, since: 0, isNew: true } as const;
  return await attachTerminal(place, session, seat);
}

/** The directory that we are in is one of this machine. */
function checkPlaceOf({ work_dir, task_id }: OperationInput<"session.create">): void {
  if (work_dir === undefined && task_id === undefined)
    throw new Fault(
      "invalid_request",
      "say where it runs: with --remote the directory that you are in means nothing, so give --cwd DIR, a path of the server, or --task ID",
    );
  if (work_dir !== undefined && !isAbsolute(work_dir))
    throw new Fault(
      "invalid_request",
      `--cwd: ${JSON.stringify(work_dir)} is relative; with --remote it is a whole path of the server, such as /home/ada/website`,
    );
}
