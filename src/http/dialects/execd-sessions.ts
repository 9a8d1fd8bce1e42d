import { mkdirSync } from "node:fs";
import * as z from "zod";
import { quote } from "#base/shell-quote.ts";
import { isLive } from "#contract/ended.ts";
import { asFault, Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import type { Shell } from "#contract/shell.ts";
import { defined } from "#contract/values/defined.ts";
import {
  badDir,
  Command,
  Directory,
  type ExecdContext,
  getDir,
  getShell,
  optional,
  resolveDir,
  TimeoutMs,
} from "./execd-context.ts";
import { describeExecution, type ExecdItem } from "./execd-events.ts";
import { closeInteractive, findInteractive } from "./interactive-shell.ts";

export const CreateSession = z.strictObject({ cwd: optional(Directory) });

/** Older clients say `code` and `timeout_ms`. */
export const RunInSession = z.strictObject({
  id: z.string(),
  command: optional(Command),
  code: optional(Command),
  cwd: optional(Directory),
  timeout: optional(TimeoutMs),
  timeout_ms: optional(TimeoutMs),
  since: z.int().min(0).optional(),
});

const REPLAY_BYTES = 64 * 1024;

/** As in that API the directory is made if there is none. */
export async function createSession(
  { operations, gateway }: ExecdContext,
  { cwd }: z.output<typeof CreateSession>,
): Promise<{ readonly session_id: string }> {
  const work_dir = cwd === undefined ? undefined : makeDir(resolveDir(gateway.where, cwd));
  const { shell_id } = await operations["shell.create"](defined({ work_dir }));
  return { session_id: shell_id };
}

export async function describeSession({ operations, gateway }: ExecdContext, id: string) {
  const { shell_id } = await getShell(operations, id);
  const session = await findInteractive(gateway, { shell_id });
  return {
    session_id: shell_id,
    running: session !== undefined && isLive(session),
    output_offset: session?.tail ?? 0,
  };
}

/** The run and the interactive shell are beside each other; `since` shows what the latter has printed. */
export async function runInSession(
  context: ExecdContext,
  { id, cwd, since, ...input }: z.output<typeof RunInSession>,
): Promise<AsyncIterable<ExecdItem>> {
  const { operations, gateway, clock, signal } = context;
  const command = oneOf({ command: input.command, code: input.code });
  if (command === undefined) throw badField("command", "missing");
  const timeout = oneOf({ timeout: input.timeout, timeout_ms: input.timeout_ms });
  const shell = await getShell(operations, id);
  const { shell_id } = shell;
  const line = cwd === undefined ? command : `${goTo(getDir(gateway.where, cwd))} ${command}`;
  const replayed = since === undefined ? undefined : await findReplay(context, shell, since);
  const run = await operations["shell.run"](
    { shell_id, command: line, ...defined({ timeout_ms: timeout }) },
    { signal },
  );
  return join(replayed, describeExecution(run, { clock, signal }));
}

/** Before and after the shell: one that is being started meanwhile is found by the second look or finds no shell. */
export async function deleteSession(
  { operations, gateway, caller }: ExecdContext,
  id: string,
): Promise<object> {
  const { shell_id } = await getShell(operations, id);
  await closeInteractive(gateway, caller, { shell_id });
  await operations["shell.close"]({ shell_id });
  await closeInteractive(gateway, caller, { shell_id });
  return {};
}

/** The value of a field that has several names. */
function oneOf<T>(names: Readonly<Record<string, T | undefined>>): T | undefined {
  const [first, second] = Object.entries(names).filter(([, value]) => value !== undefined);
  if (first !== undefined && second !== undefined)
    throw badField(second[0], `is the same as ${first[0]}; send one of them`);
  return first?.[1];
}

function badField(field: string, why: string): Fault {
  return new Fault("invalid_request", `${field}: ${why}`, { details: { field } });
}

function makeDir(dir: string): string {
  try {
    mkdirSync(dir, { recursive: true });
    return dir;
  } catch (error) {
    throw badDir(`${dir} cannot be made: ${asFault(error).message}`, error);
  }
}

/** In front of the command on its first line, so that lines keep their numbers; no alias or function gets in between. */
function goTo(dir: string): string {
  return `\\builtin cd -- ${quote(dir)} || \\builtin exit;`;
}

async function findReplay(
  { operations, gateway, clock }: ExecdContext,
  shell: Shell,
  since: number,
): Promise<AsyncIterable<ExecdItem>> {
  const session = await findInteractive(gateway, shell);
  const to = session?.tail ?? 0;
  if (since > to) throw pastTheEnd(since, to);
  return replay({ operations, clock }, { session, since, to });
}

export function pastTheEnd(since: number, tail: number): Fault {
  return new Fault("offset_out_of_range", `since: ${since} is past the end, which is at ${tail}`, {
    details: { since, tail },
  });
}

interface Replay {
  readonly session: Session | undefined;
  readonly since: number;
  readonly to: number;
}

/** At least one event, so that a client knows that it has everything. */
async function* replay(
  { operations, clock }: Pick<ExecdContext, "operations" | "clock">,
  { session, since, to }: Replay,
): AsyncGenerator<ExecdItem, void, void> {
  const decoder = new TextDecoder();
  let next = since;
  do {
    const limit = Math.min(REPLAY_BYTES, to - next);
    if (session === undefined || limit === 0) {
      yield { data: { type: "replay", text: "", offset: next, timestamp: clock.now() } };
      return;
    }
    const { session_id } = session;
    const range = await operations["session.output"]({ session_id, since: next, limit });
    if (range.gap !== null) yield { data: { type: "gap", ...range.gap, timestamp: clock.now() } };
    next = range.next;
    const text = decoder.decode(range.bytes, { stream: next < to });
    yield { data: { type: "replay", text, offset: next, timestamp: clock.now() } };
  } while (next < to);
}

async function* join(
  first: AsyncIterable<ExecdItem> | undefined,
  second: AsyncIterable<ExecdItem>,
): AsyncGenerator<ExecdItem, void, void> {
  if (first !== undefined) yield* first;
  yield* second;
}
