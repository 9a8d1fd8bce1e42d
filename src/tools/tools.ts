import type { Caller } from "#app/caller.ts";
import type { Tools } from "#contract/tools/tools.ts";
import { createProcessTools } from "./process/process.ts";
import type { ProcessDeps } from "./process/visible-process.ts";
import { createSessionTools } from "./terminal/session-tools.ts";
import { createTerminalTools, type TerminalToolDeps } from "./terminal/terminal-tools.ts";

export type ToolDeps = ProcessDeps & TerminalToolDeps;

/** Everything that a model may be given, for this caller. */
export function createTools(deps: ToolDeps, caller: Caller): Tools {
  return {
    ...createProcessTools(deps, caller),
    ...createTerminalTools(deps, caller),
    ...createSessionTools(deps, caller),
  };
}
