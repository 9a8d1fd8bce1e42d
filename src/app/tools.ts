import type { Tools } from "#contract/tools/tools.ts";
import type { Caller } from "./caller.ts";
import { createSessionTools } from "./model-terminal/session-tools.ts";
import { createTerminalTools, type TerminalToolDeps } from "./model-terminal/terminal-tools.ts";
import { createProcessTools } from "./process/process.ts";
import type { ProcessDeps } from "./process/visible-process.ts";

export type ToolDeps = ProcessDeps & TerminalToolDeps;

/** Everything that a model may be given, for this caller. */
export function createTools(deps: ToolDeps, caller: Caller): Tools {
  return {
    ...createProcessTools(deps, caller),
    ...createTerminalTools(deps, caller),
    ...createSessionTools(deps, caller),
  };
}
