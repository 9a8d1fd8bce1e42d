import type { Caller } from "#app/caller.ts";
import { openWaitEnding, type WaitEnding } from "#app/read/wait-scan.ts";
import type { Clock } from "#base/clock.ts";
import { pause } from "#base/pause.ts";
import { isLive } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { SignalName } from "#contract/signals.ts";
import type { SignalResult, ToolSignal } from "#contract/tools/process.ts";
import type { ToolInput } from "#contract/tools/tools.ts";
import type { SessionHandle } from "#session/session-host.ts";
import { openVisibleProcess, type ProcessDeps, recordAction } from "./visible-process.ts";

export const systemNames: Readonly<Record<ToolSignal, SignalName>> = {
  terminate: "SIGTERM",
  kill: "SIGKILL",
  interrupt: "SIGINT",
  hangup: "SIGHUP",
  quit: "SIGQUIT",
  usr1: "SIGUSR1",
  usr2: "SIGUSR2",
};

/** The end of a grandchild is told by nobody, so it is looked for: soon at first, then less often. */
const LOOK_FIRST_MS = 10;
const LOOK_SLOWEST_MS = 500;

/** To the whole tree, also when its first process has gone. */
export async function signalProcess(
  deps: ProcessDeps,
  caller: Caller,
  {
    input,
    signal,
  }: { readonly input: ToolInput<"process_signal">; readonly signal: AbortSignal | undefined },
): Promise<SignalResult> {
  const { process_id, escalate_after } = input;
  using handle = await openVisibleProcess(deps, caller, process_id);
  const name = systemNames[input.signal];
  const tree = openTree(deps, process_id);
  const reached = await tree.send(name);
  if (reached === 0) return { success: true, message: "already exited", signal_used: null };
  const { session } = handle;
  recordAction(deps, caller, { action: "session.signalled", session, details: { signal: name } });
  const sent = `${name} was sent to ${reached} ${reached === 1 ? "process" : "processes"}`;
  if (escalate_after === undefined) return { success: true, message: sent, signal_used: name };
  using patience = openWaitEnding(deps.clock, escalate_after, signal);
  if (await isGone(tree, patience)) {
    await untilReaped(deps, handle, signal);
    return ended(name);
  }
  recordAction(deps, caller, {
    action: "session.signalled",
    session,
    details: { signal: "SIGKILL" },
  });
  const result = await kill(tree, { deps, signal, name });
  if (result.success) await untilReaped(deps, handle, signal);
  return result;
}

/** Dead is not yet exited: who hears that it has ended must not find it running. */
async function untilReaped(
  { clock }: ProcessDeps,
  handle: SessionHandle,
  signal: AbortSignal | undefined,
): Promise<void> {
  using ending = openWaitEnding(clock, limits.tree_kill_ms, signal);
  await handle.until(({ session }) => !isLive(session), ending);
}

interface Tree {
  readonly clock: Clock;
  send(name: SignalName): Promise<number>;
  count(): Promise<number>;
}

function openTree({ hosts, clock }: ProcessDeps, session_id: string): Tree {
  const host = hosts.of(session_id);
  return {
    clock,
    send: async (signal) => {
      const request = { session_id, signal, scope: "tree" } as const;
      const { signalled } = await host.call("session.signal", request).catch(nobody);
      return signalled;
    },
    count: async () => {
      return (await host.call("session.tree", { session_id })).processes;
    },
  };
}

function nobody(error: unknown): { readonly signalled: number } {
  if (error instanceof Fault && error.code === "already_exited") return { signalled: 0 };
  throw error;
}

/** Whoever forks while we kill is killed at the next look. */
async function kill(
  tree: Tree,
  {
    deps,
    signal,
    name,
  }: {
    readonly deps: ProcessDeps;
    readonly signal: AbortSignal | undefined;
    readonly name: SignalName;
  },
): Promise<SignalResult> {
  using ending = openWaitEnding(deps.clock, limits.tree_kill_ms, signal);
  const count = async () => {
    await tree.send("SIGKILL");
    return await tree.count();
  };
  if (await isGone({ clock: deps.clock, count }, ending)) {
    const message =
      name === "SIGKILL" ? "ended by SIGKILL" : `${name} was not enough: SIGKILL ended it`;
    return { success: true, message, signal_used: "SIGKILL" };
  }
  const left = await tree.count();
  return {
    success: false,
    message: `${left} of its processes could not be ended, not even by SIGKILL`,
    signal_used: "SIGKILL",
  };
}

function ended(name: SignalName): SignalResult {
  return { success: true, message: `ended by ${name}`, signal_used: name };
}

async function isGone(
  { clock, count }: Pick<Tree, "clock" | "count">,
  ending: WaitEnding,
): Promise<boolean> {
  for (let ms = LOOK_FIRST_MS; ; ms = Math.min(2 * ms, LOOK_SLOWEST_MS)) {
    if ((await count()) === 0) return true;
    ending.throwIfAborted();
    if (ending.isOver) return false;
    await pause(clock, ms, ending.signal);
  }
}
