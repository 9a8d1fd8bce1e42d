import { resolve } from "node:path";
import { type Caller, chooseWorkspace, workspaceNotFound } from "#app/caller.ts";
import { refuseOurNames } from "#app/session.ts";
import { isLive } from "#contract/ended.ts";
import { asFault, Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import { describeDuration } from "#contract/tools/parse-duration.ts";
import type { ProcessResult } from "#contract/tools/process.ts";
import type { ToolInput, ToolOptions } from "#contract/tools/tools.ts";
import { defined } from "#contract/values/defined.ts";
import type { HostCreate } from "#host/socket/methods.ts";
import { type CommandPlan, planCommand } from "./background.ts";
import { dumpsFile } from "./file-dump.ts";
import { quietEnvironment } from "./quiet-environment.ts";
import { type Draft, durationOf, readProcess, toResult } from "./result.ts";
import { PROCESS_LABEL, type ProcessDeps, recordAction } from "./visible-process.ts";
import { waitFor } from "./waiting.ts";

type Input = ToolInput<"execute">;

interface Asked {
  readonly input: Input;
  readonly signal: AbortSignal | undefined;
  readonly onStarted: ToolOptions["onStarted"] | undefined;
  readonly hasFileTool: boolean;
}

interface Run extends Pick<Asked, "hasFileTool"> {
  readonly input: Input;
  readonly plan: CommandPlan;
  readonly wait_ms: number;
  readonly isBackground: boolean;
  readonly session: Session;
}

/**
 * Starts a command as a session and waits for its end:
 *
 *   created ── exit ──────────→ output, exit code
 *      ├────── wait is over ──→ output so far, its id; it goes on
 *      └────── background ────→ its id; it goes on
 */
export async function execute(
  deps: ProcessDeps,
  caller: Caller,
  { input, signal, onStarted, hasFileTool }: Asked,
): Promise<ProcessResult> {
  const plan = planCommand(input.command);
  const wait_ms = input.timeout ?? deps.defaultWaitMs ?? limits.execute_wait_ms;
  const isBackground = input.run_in_background === true || plan.isBackground || wait_ms === 0;
  const request = describeProcess(deps, caller, { input, plan, isBackground });
  signal?.throwIfAborted();
  const session = await deps.hosts.place(request).call("session.create", request);
  const { kind, work_dir } = session;
  recordAction(deps, caller, {
    action: "session.opened",
    session,
    details: { kind, work_dir, task_id: null },
  });
  deps.onStarted?.(session);
  onStarted?.(session.session_id);
  const run: Run = { input, plan, wait_ms, isBackground, session, hasFileTool };
  if (isBackground && isLive(session)) return describeStarted(deps, run);
  return await follow(deps, caller, { run, signal });
}

async function follow(
  deps: ProcessDeps,
  caller: Caller,
  { run, signal }: { readonly run: Run; readonly signal: AbortSignal | undefined },
): Promise<ProcessResult> {
  const { session_id } = run.session;
  // It has been started, so whatever keeps us from waiting is said beside its id.
  let problem: string | undefined;
  try {
    const timeout_ms = run.wait_ms;
    await waitFor(deps, caller, { session_id, for: "exit", timeout_ms, signal });
  } catch (error) {
    signal?.throwIfAborted();
    problem = asFault(error).message;
  }
  using handle = await deps.hosts.of(session_id).open(session_id);
  const draft = readProcess(handle, { clock: deps.clock });
  const notes = [...draft.notes, ...describeHabits(run)];
  if (!draft.running) {
    const mayHaveLeft = run.plan.leavesChildren || isHeld(handle.session);
    const left = mayHaveLeft ? await countTree(deps, session_id) : 0;
    return describeEnd({ ...draft, notes }, session_id, left);
  }
  const late = `command timed out after ${describeDuration(run.wait_ms)}`;
  const why = problem === undefined ? late : `nobody could wait for the command: ${problem}`;
  return toResult({
    ...draft,
    success: false,
    ...(problem === undefined ? { timed_out: true } : {}),
    notes: [...notes, "it goes on in the background"],
    errors: [why, ...draft.errors],
  });
}

/**
 * Somebody has its output still open. To look at every process of the machine takes longer than a short command, so
 * without this or an `&` nobody looks; process_list does.
 */
function isHeld({ state }: Session): boolean {
  return state.kind === "exited" && !state.final;
}

async function countTree({ hosts }: ProcessDeps, session_id: string): Promise<number> {
  return (await hosts.of(session_id).call("session.tree", { session_id })).processes;
}

/** The exit code is the shell's own, whatever it has left behind. */
function describeEnd(draft: Draft, id: Session["session_id"], left: number): ProcessResult {
  if (left === 0) return toResult(draft);
  const notes = [...draft.notes, describeLeft(left)];
  return toResult({ ...draft, notes, background_process_id: id });
}

function describeLeft(processes: number): string {
  const what =
    processes === 1
      ? "1 process that it started runs"
      : `${processes} processes that it started run`;
  return `${what} on; process_signal ends all of them, process_output reads what they print`;
}

function describeStarted({ clock }: ProcessDeps, run: Run): ProcessResult {
  const { session, plan } = run;
  return toResult({
    success: true,
    output: "",
    running: true,
    wall_duration_ms: durationOf(session, clock),
    background_process_id: session.session_id,
    offset: 0,
    next_offset: 0,
    notes: describePromotion(plan),
    errors: [],
  });
}

function describePromotion({ isBackground }: CommandPlan): string[] {
  if (!isBackground) return [];
  return ["the & at its end was removed and it runs in the background, where it can be followed"];
}

function describeHabits({ input, plan, hasFileTool }: Run): string[] {
  const dump = hasFileTool && dumpsFile(input.command);
  return [
    ...describePromotion(plan),
    ...(dump ? ["to read or search files use read_file, which shows more of them"] : []),
  ];
}

function describeProcess(
  deps: ProcessDeps,
  caller: Caller,
  {
    input,
    plan,
    isBackground,
  }: { readonly input: Input; readonly plan: CommandPlan; readonly isBackground: boolean },
): HostCreate {
  const { env = {}, lifetime, label, idempotency_key, tty = false } = input;
  refuseOurNames(env);
  if (lifetime === 0)
    throw wrong("lifetime", "0 would end the command at once; leave it out for no limit");
  const workspace_id = chooseWorkspace(caller, undefined);
  if (!deps.places.hasWorkspace(workspace_id)) throw workspaceNotFound(workspace_id);
  const owner = caller.process_owner ?? caller.token_id;
  return {
    kind: tty ? "terminal" : "command",
    command: plan.command,
    work_dir: chooseWorkDir(deps, caller, input.workdir),
    env: { ...caller.where.env, ...quietEnvironment, ...env },
    umask: caller.where.umask,
    open_files: caller.where.open_files,
    stdin: false,
    // A model reads one text, and an error belongs behind what led to it. A terminal has one channel anyway.
    merged: !tty && deps.keepsApart !== true,
    // Somebody waits for it; what was meant to go on is worth a cgroup.
    brief: !isBackground,
    ...defined({ title: label }),
    parent_session_id: caller.parent_session_id,
    ...defined({ lifetime_ms: lifetime }),
    labels: {
      workspace_id,
      [PROCESS_LABEL]: isBackground ? "background" : "foreground",
      agent: "1",
      ...defined({ user_id: caller.user_id, owner, idempotency_key }),
    },
  };
}

function chooseWorkDir(
  { requireWorkdir }: ProcessDeps,
  caller: Caller,
  named: string | undefined,
): string {
  if (!requireWorkdir) return resolve(caller.where.work_dir, named ?? ".");
  if (named?.startsWith("/") === true) return named;
  throw wrong("workdir", "say which directory to run in, as an absolute path");
}

function wrong(field: string, sentence: string): Fault {
  return new Fault("invalid_request", `${field}: ${sentence}`, { details: { field } });
}
