import { statSync } from "node:fs";
import { resolve } from "node:path";
import * as z from "zod";
import type { Where, Who } from "#app/caller.ts";
import type { Gateway, GatewayOperations } from "#app/gateway.ts";
import { sessionNotFound } from "#app/visible-session.ts";
import type { Clock } from "#base/clock.ts";
import { Fault } from "#contract/fault.ts";
import { SessionId, ShellId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { type Session, SystemText } from "#contract/session.ts";
import type { Shell } from "#contract/shell.ts";

/** One request of the execd API. */
export interface ExecdContext {
  readonly gateway: Gateway;
  readonly operations: GatewayOperations;
  readonly caller: Who;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Added to the answer. */
  readonly headers: Headers;
}

/** Clients send null for what they were not told. */
export function optional<S extends z.ZodType>(schema: S) {
  return schema.nullish().transform((value) => value ?? undefined);
}

export const Directory = SystemText.min(1).max(limits.path_bytes);
export const Command = SystemText.max(limits.body_bytes).refine(
  (line) => line.trim() !== "",
  "the command is empty",
);
export const TimeoutMs = z.int().min(1).max(limits.duration_ms);

/** What that API calls a session. */
export async function getShell(operations: GatewayOperations, id: string): Promise<Shell> {
  const parsed = ShellId.safeParse(id);
  if (parsed.success) return await operations["shell.get"]({ shell_id: parsed.data });
  throw new Fault("shell_not_found", `there is no session ${id}`, { details: { shell_id: id } });
}

/** What that API calls a command: every command session that the caller may see, runs in sessions included. */
export async function getCommand(operations: GatewayOperations, id: string): Promise<Session> {
  const parsed = SessionId.safeParse(id);
  if (!parsed.success) throw sessionNotFound(id);
  const session = await operations["session.get"]({ session_id: parsed.data });
  if (session.kind === "command") return session;
  throw sessionNotFound(id);
}

/** Relative to the caller's own directory, which `~` is too. */
export function resolveDir({ work_dir }: Pick<Where, "work_dir">, path: string): string {
  return resolve(work_dir, path.replace(/^~(?=\/|$)/, "."));
}

export function getDir(where: Pick<Where, "work_dir">, path: string): string {
  const dir = resolveDir(where, path);
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true) return dir;
  throw badDir(`there is no directory ${dir}`);
}

export function badDir(why: string, cause?: unknown): Fault {
  return new Fault("invalid_request", `cwd: ${why}`, { details: { field: "cwd" }, cause });
}
