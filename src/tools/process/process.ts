import type { Caller } from "#app/caller.ts";
import type { Operations } from "#contract/operations.ts";
import type { Tools } from "#contract/tools/tools.ts";
import { execute } from "./execute.ts";
import { typeInto } from "./input.ts";
import { listProcesses } from "./list.ts";
import { readOutput, waitForEnd } from "./output.ts";
import { signalProcess } from "./signal.ts";
import type { ProcessDeps } from "./visible-process.ts";

export type ProcessTools = Pick<
  Tools,
  | "execute"
  | "process_output"
  | "process_wait"
  | "process_list"
  | "process_signal"
  | "process_input"
>;

/** Processes as models see them. Each is a session, which people see as well. */
export function createProcessTools(deps: ProcessDeps, caller: Caller): ProcessTools {
  return {
    execute: (input, { signal, onStarted, hasFileTool = false } = {}) =>
      execute(deps, caller, { input, signal, onStarted, hasFileTool }),
    process_output: (input, { signal } = {}) => readOutput(deps, caller, { input, signal }),
    process_wait: (input, { signal } = {}) => waitForEnd(deps, caller, { input, signal }),
    process_list: (input) => listProcesses(deps, caller, input),
    process_signal: (input, { signal } = {}) => signalProcess(deps, caller, { input, signal }),
    process_input: (input) => typeInto(deps, caller, input),
  };
}

type ProcessOperations = Pick<Operations, Extract<keyof Operations, `process.${string}`>>;

/** The same over HTTP. */
export function createProcessOperations(deps: ProcessDeps, caller: Caller): ProcessOperations {
  return toOperations(createProcessTools(deps, caller));
}

/** The tools as operations. */
export function toOperations(tools: ProcessTools): ProcessOperations {
  return {
    "process.execute": tools.execute,
    "process.output": tools.process_output,
    "process.wait": tools.process_wait,
    "process.list": tools.process_list,
    "process.signal": tools.process_signal,
    "process.input": tools.process_input,
  };
}
