import { homedir } from "node:os";
import { join } from "node:path";
import type { Caller } from "#app/caller.ts";
import type { Places } from "#app/session.ts";
import { LOCAL_WORKSPACE } from "#contract/ids.ts";
import { callerHome } from "./caller-home.ts";

/** An administrator of everything, unless a test says otherwise. */
export function createTestCaller(overrides: Partial<Caller> = {}): Caller {
  return {
    user_id: undefined,
    token_id: undefined,
    role: "admin",
    workspaces: "*",
    workspace_id: LOCAL_WORKSPACE,
    env: callerEnvironment(),
    work_dir: "/",
    umask: 0o022,
    ...overrides,
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
