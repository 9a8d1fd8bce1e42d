import { homedir } from "node:os";
import { join } from "node:path";
import type { Caller, Where, Who } from "#app/caller.ts";
import type { Places } from "#app/session.ts";
import { LOCAL_WORKSPACE } from "#contract/ids.ts";
import { callerHome } from "./caller-home.ts";

/** Who and where, side by side. */
export type CallerParts = Partial<Who & Where>;

/** An administrator of everything, unless a test says otherwise. */
export function createTestCaller(overrides: CallerParts = {}): Caller {
  const {
    env = callerEnvironment(),
    work_dir = "/",
    umask = 0o022,
    open_files,
    ...who
  } = overrides;
  return {
    user_id: undefined,
    token_id: undefined,
    role: "admin",
    workspaces: "*",
    workspace_id: LOCAL_WORKSPACE,
    where: { env, work_dir, umask, open_files },
    ...who,
  };
}

export function callerEnvironment(): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "/usr/bin:/bin",
    HOME: callerHome(),
    LANG: "C.UTF-8",
    // The cache of compiled code stays warm, also for what a session runs.
    XDG_CACHE_HOME: process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"),
  };
}

/** Every workspace exists, no task does. */
export const anyPlaces: Places = { hasWorkspace: () => true, findTask: () => undefined };
