import { resolve } from "node:path";
import { type Caller, chooseWorkspace, workspaceNotFound } from "#app/caller.ts";
import type { Patterns } from "#app/read/patterns.ts";
import { takeSlot } from "#app/read/wait.ts";
import { openWaitEnding } from "#app/read/wait-scan.ts";
import { createSessionOperations, refuseOurNames, type SessionDeps } from "#app/session.ts";
import type { Clock } from "#base/clock.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { TerminalView } from "#contract/tools/terminal-tools.ts";
import type { ToolInput, Tools } from "#contract/tools/tools.ts";
import { defined } from "#contract/values/defined.ts";
import type { HostCreate } from "#host/socket/methods.ts";
import type { Screens } from "#screen/screens.ts";
import type { SessionHandle, SessionHosts } from "#session/session-host.ts";
import { encodeKey } from "./keys.ts";
import { dependsOnModes, encodeLine, type Modes, PLAIN } from "./line-parts.ts";
import { openOwnTerminal, ownerOf } from "./own-terminal.ts";
import { waitForOutput, waitForQuiet } from "./quiet.ts";
import { createScreenWait } from "./screen-wait.ts";
import { checkSince, describeSight, lookAt } from "./terminal-view.ts";
import { encodePaste, encodeTyped } from "./typed-text.ts";
import { checkLength, type Part, takeTurn, typeParts } from "./typing.ts";

type TerminalTools = Pick<
  Tools,
  "terminal_open" | "terminal_type" | "terminal_screen" | "terminal_wait" | "terminal_close"
>;

export interface TerminalToolDeps extends SessionDeps {
  readonly hosts: SessionHosts;
  readonly screens: Screens;
  readonly patterns: Patterns;
  readonly clock: Clock;
  /** Callers from afar have no directory of their own here, so they say one. */
  readonly requireWorkdir?: boolean;
}

/** Wider than what a person needs: models read lines that are not broken. */
const COLS = 100;
const ROWS = 30;
const SETTLE_MS = 300;
const TYPE_LONGEST_MS = 10_000;
const WAIT_LONGEST_MS = 30_000;
/** For the first byte of a program; some print nothing until they are spoken to. */
const FIRST_OUTPUT_MS = 2000;
const OPEN_LONGEST_MS = 5000;

type TypeInput = ToolInput<"terminal_type">;

/** Terminals that models open and drive by what stands on their screens. */
export function createTerminalTools(deps: TerminalToolDeps, caller: Caller): TerminalTools {
  const { hosts, screens, clock } = deps;
  const operations = createSessionOperations(deps, caller);
  const openHandle = (terminalId: string) => openOwnTerminal(deps, caller, terminalId);
  return {
    terminal_open: async (input, { signal, onStarted } = {}) => {
      using _slot = takeSlot(hosts);
      const terminalId = await start(deps, caller, input);
      onStarted?.(terminalId);
      using handle = await hosts.of(terminalId).open(terminalId);
      await waitForFirstScreen(deps, handle, signal);
      return await view(screens, handle, undefined);
    },
    terminal_type: async (input, { signal } = {}) => {
      using _slot = takeSlot(hosts);
      using handle = await openHandle(input.terminal_id);
      checkSince(handle, input.since);
      // Refused before anything is typed.
      checkLength(encodeParts(input, PLAIN));
      await takeTurn(handle, async () => {
        const parts = encodeParts(input, await findModes(screens, handle, input));
        const type = (request: Parameters<(typeof operations)["session.input"]>[0]) =>
          operations["session.input"](request).catch(refuseControlled);
        await typeParts({ handle, clock, input: type, signal }, parts);
      });
      await settle(deps, handle, { ...input, signal });
      return await view(screens, handle, input.since);
    },
    terminal_screen: async ({ terminal_id, since }) => {
      using handle = await openHandle(terminal_id);
      checkSince(handle, since);
      return await view(screens, handle, since);
    },
    terminal_wait: async ({ terminal_id, since, timeout, ...question }, { signal } = {}) => {
      const wait = await createScreenWait(deps, question);
      using _slot = takeSlot(hosts);
      using handle = await openHandle(terminal_id);
      checkSince(handle, since);
      using ending = openWaitEnding(clock, bounded(timeout ?? WAIT_LONGEST_MS), signal);
      const { matched, sight } = await wait({ deps, handle, ending, signal });
      ending.throwIfAborted();
      return { matched, ...(await describeSight(screens, handle, { sight, since })) };
    },
    terminal_close: async ({ terminal_id }) => {
      using _feed = await openHandle(terminal_id);
      const { state } = await operations["session.close"]({ session_id: terminal_id });
      return { success: true, state };
    },
  };
}

async function view(
  screens: Screens,
  handle: SessionHandle,
  since: number | undefined,
): Promise<TerminalView> {
  return await describeSight(screens, handle, { sight: await lookAt(screens, handle), since });
}

async function start(
  { hosts, places, shell, audit, requireWorkdir = false }: TerminalToolDeps,
  caller: Caller,
  input: ToolInput<"terminal_open">,
): Promise<string> {
  refuseOurNames(input.env ?? {});
  if (requireWorkdir && input.workdir?.startsWith("/") !== true) throw noWorkdir();
  const workspace_id = chooseWorkspace(caller, undefined);
  if (!places.hasWorkspace(workspace_id)) throw workspaceNotFound(workspace_id);
  const work_dir = resolve(caller.where.work_dir, input.workdir ?? ".");
  const owner = ownerOf(caller);
  const request: HostCreate = {
    kind: "terminal",
    command: input.command,
    ...defined({ shell }),
    work_dir,
    env: { ...caller.where.env, ...input.env },
    umask: caller.where.umask,
    open_files: caller.where.open_files,
    cols: input.cols ?? COLS,
    rows: input.rows ?? ROWS,
    title: input.label,
    parent_session_id: caller.parent_session_id,
    labels: {
      workspace_id,
      ...defined({ user_id: caller.user_id, owner }),
      process: "terminal",
      agent: "1",
    },
  };
  const { session_id } = await hosts.place(request).call("session.create", request);
  const details = { kind: request.kind, work_dir };
  audit?.record({ action: "session.opened", caller, workspace_id, target_id: session_id, details });
  return session_id;
}

function noWorkdir(): Fault {
  const message = "workdir: say which directory to run in, as an absolute path";
  return new Fault("invalid_request", message, { details: { field: "workdir" } });
}

/** A program that draws itself first and then waits is seen drawn; one that says nothing is not waited for long. */
async function waitForFirstScreen(
  { clock }: TerminalToolDeps,
  handle: SessionHandle,
  signal: AbortSignal | undefined,
): Promise<void> {
  using ending = openWaitEnding(clock, OPEN_LONGEST_MS, signal);
  const listening = { handle, clock, signal: ending.signal };
  if (await waitForOutput(listening, { beyond: 0, longestMs: FIRST_OUTPUT_MS }))
    await waitForQuiet(listening, SETTLE_MS);
  ending.throwIfAborted();
}

/** What never stops to print, as a spinner, is looked at when the time is over. */
async function settle(
  { clock }: TerminalToolDeps,
  handle: SessionHandle,
  input: Pick<TypeInput, "settle" | "timeout"> & { readonly signal: AbortSignal | undefined },
): Promise<void> {
  const quietMs = input.settle ?? SETTLE_MS;
  if (quietMs === 0) return;
  using ending = openWaitEnding(clock, bounded(input.timeout ?? TYPE_LONGEST_MS), input.signal);
  await waitForQuiet({ handle, clock, signal: ending.signal }, quietMs);
  ending.throwIfAborted();
}

function encodeParts({ text = "", keys = [], paste = false }: TypeInput, modes: Modes): Part[] {
  const line = /^(.*?)\r?\n$/s.exec(text)?.[1];
  if (line !== undefined && !paste) return encodeLine({ text: line, keys, enter: true }, modes);
  const bytes = paste ? encodePaste(text, modes) : encodeTyped(text);
  return [
    ...(bytes === "" ? [] : [{ kind: "text", bytes } as const]),
    ...keys.map((key) => ({ kind: "key", bytes: encodeKey(key, modes) }) as const),
  ];
}

/** Drawn only where it makes a difference: Ctrl-C gets through to what prints faster than can be drawn. */
async function findModes(
  screens: Screens,
  handle: SessionHandle,
  input: TypeInput,
): Promise<Modes> {
  if (!dependsOnModes((modes) => encodeParts(input, modes))) return PLAIN;
  return (await screens.text(handle)).modes;
}

function refuseControlled(error: unknown): never {
  if (!(error instanceof Fault) || error.code !== "not_controller") throw error;
  const { details } = error;
  const who = typeof details.holder === "string" ? details.holder : "somebody";
  const message = `${who} controls this terminal now and types into it; watch it with terminal_screen or terminal_wait, and type when it is free`;
  throw new Fault("not_controller", message, { details });
}

function bounded(ms: number): number {
  return Math.min(ms, limits.wait_longest_ms);
}
