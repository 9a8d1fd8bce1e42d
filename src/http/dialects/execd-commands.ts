import * as z from "zod";
import { unfinishedBytes } from "#base/utf8.ts";
import { Fault } from "#contract/fault.ts";
import type { Document } from "#contract/operations.ts";
import { Environment, type Session } from "#contract/session.ts";
import { defined } from "#contract/values/defined.ts";
import {
  Command,
  Directory,
  type ExecdContext,
  getCommand,
  getDir,
  optional,
  TimeoutMs,
} from "./execd-context.ts";
import {
  describeComplete,
  describeExecution,
  describeInit,
  type ExecdItem,
  sayExit,
} from "./execd-events.ts";
import { missingQuery } from "./execd-faults.ts";
import { followCommand } from "./follow-command.ts";

const UnixId = z.int().min(0);

export const RunCommand = z.strictObject({
  command: Command,
  cwd: optional(Directory),
  background: optional(z.boolean()),
  timeout: optional(TimeoutMs),
  uid: optional(UnixId),
  gid: optional(UnixId),
  envs: optional(Environment),
});

/** How long an interrupted command has before it is ended. */
const INTERRUPT_MS = 3000;
const READ_BYTES = 256 * 1024;
/** More than any unfinished character. */
const END_BYTES = 4;
const CURSOR_HEADER = "EXECD-COMMANDS-TAIL-CURSOR";

/** Started before the answer begins: a refusal has a status, and the id in `init` is known to everybody by then. */
export async function runCommand(
  context: ExecdContext,
  input: z.output<typeof RunCommand>,
): Promise<AsyncIterable<ExecdItem>> {
  const { operations, clock, gateway, signal } = context;
  checkUser(input);
  const { cwd, timeout, envs } = input;
  const { session_id } = await operations["session.create"]({
    kind: "command",
    command: input.command,
    ...(cwd === undefined ? {} : { work_dir: getDir(gateway.where, cwd) }),
    ...defined({ lifetime_ms: timeout, env: envs }),
  });
  if (input.background === true) return describeStart(context, session_id);
  const followed = followCommand(gateway.hosts, { session_id, clock, signal });
  return describeExecution(followed, { clock, signal });
}

/** That it was started is all that a background command's stream says. */
async function* describeStart(
  { clock }: ExecdContext,
  id: string,
): AsyncGenerator<ExecdItem, void, void> {
  yield describeInit(id, clock);
  yield { data: describeComplete(clock, 0) };
}

export async function describeStatus({ operations }: ExecdContext, id: string) {
  const session = await getCommand(operations, id);
  const { session_id, created_at, exited_at, state } = session;
  const began = { id: session_id, content: contentOf(session), started_at: created_at };
  if (state.kind === "starting" || state.kind === "running") return { ...began, running: true };
  const exit_code = state.kind === "exited" ? state.exit_code : null;
  const signal = state.kind === "exited" ? state.signal : null;
  const error = sayExit({ exit_code, signal, reason: state.reason });
  return {
    ...began,
    running: false,
    ...(exit_code === null ? {} : { exit_code }),
    ...(exit_code === 0 && state.reason !== "lifetime_timeout" ? {} : { error }),
    ...(exited_at === null ? {} : { finished_at: exited_at }),
  };
}

/** The line as it was sent; of a very long one, and of a run in a session, what it is listed as. */
function contentOf({ shell, argv, title }: Session): string {
  const [, flag, line] = argv;
  return shell !== null && flag === "-c" && line !== undefined ? line : title;
}

/** Everything from the cursor on that is there now, both channels as they came. */
export async function readLogs(
  { operations, headers }: ExecdContext,
  { id, cursor = 0 }: { readonly id: string; readonly cursor?: number | undefined },
): Promise<Document> {
  const { session_id, tail } = await getCommand(operations, id);
  const read = (since: number, limit: number) =>
    operations["session.output"]({ session_id, since, limit: Math.min(limit, READ_BYTES) });
  const end = cursor < tail ? await read(Math.max(cursor, tail - END_BYTES), END_BYTES) : undefined;
  // The rest of a character may still come; then it is read as a whole.
  const rest = end === undefined || end.final ? 0 : unfinishedBytes(end.bytes);
  const to = Math.max(Math.min(cursor, tail), tail - rest);
  headers.set(CURSOR_HEADER, String(to));
  const first = cursor < to ? await read(cursor, to - cursor) : undefined;
  if (first !== undefined && first.gap !== null)
    headers.set("X-Reins-Gap", `${first.gap.from}-${first.gap.to}`);
  const body = async function* () {
    for (let range = first; range !== undefined; ) {
      yield range.bytes;
      range = range.next < to ? await read(range.next, to - range.next) : undefined;
    }
  };
  return { media_type: "text/plain; charset=utf-8", body: body() };
}

/** Asks the whole tree to end and answers when it has; what does not listen is ended. */
export async function interruptCommand(
  { operations }: ExecdContext,
  id: string | undefined,
): Promise<object> {
  if (id === undefined || id === "") throw missingQuery("id");
  const { session_id } = await getCommand(operations, id);
  await operations["session.signal"]({ session_id, signal: "SIGTERM", scope: "tree" });
  const exit = { session_id, for: "exit", timeout_ms: INTERRUPT_MS } as const;
  const { matched } = await operations["session.wait"](exit);
  if (!matched) await operations["session.close"]({ session_id, reason: "interrupted" });
  return {};
}

/** Commands run as the user that runs Reins; to be told so is better than to run as somebody else than asked. */
function checkUser({ uid, gid }: z.output<typeof RunCommand>): void {
  if (gid !== undefined && uid === undefined)
    throw new Fault("invalid_request", "gid: needs uid", { details: { field: "gid" } });
  const isOurs =
    (uid === undefined || uid === process.getuid?.()) &&
    (gid === undefined || gid === process.getgid?.());
  if (isOurs) return;
  throw new Fault(
    "unsupported",
    `uid, gid: commands run as the user of this server, ${process.getuid?.()}:${process.getgid?.()}, and as nobody else`,
  );
}
