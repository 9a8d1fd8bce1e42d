import {
  Execute,
  ProcessInput,
  ProcessList,
  ProcessOutput,
  ProcessSignal,
  ProcessWait,
  processTools,
} from "#contract/tools/process-tools.ts";
import type { OperationSpec } from "./operation-spec.ts";

/** The tools for models as routes; what they take and answer is defined with the tools. */
export const processOperations = {
  "process.execute": {
    http: "POST /v1/processes",
    summary: "Run a command and wait for its end; after that it goes on in the background.",
    role: "operator",
    answers: "json",
    input: Execute,
    output: processTools.execute.output,
    faults: ["invalid_request", "spawn_failed", "too_many", "disk_full", "workspace_not_found"],
  },
  "process.list": {
    http: "GET /v1/processes",
    summary: "List processes, the newest first.",
    role: "viewer",
    answers: "json",
    input: ProcessList,
    output: processTools.process_list.output,
    faults: ["invalid_request"],
  },
  "process.output": {
    http: "GET /v1/processes/:process_id/output",
    summary: "Read what a process has printed since an offset, or wait for more.",
    role: "viewer",
    answers: "json",
    input: ProcessOutput,
    output: processTools.process_output.output,
    faults: ["process_not_found", "offset_out_of_range", "invalid_request", "too_many"],
  },
  "process.wait": {
    http: "POST /v1/processes/:process_id/wait",
    summary: "Wait until a process has ended.",
    role: "viewer",
    answers: "json",
    input: ProcessWait,
    output: processTools.process_wait.output,
    faults: ["process_not_found", "offset_out_of_range", "invalid_request", "too_many"],
  },
  "process.signal": {
    http: "POST /v1/processes/:process_id/signal",
    summary: "Send a signal to a process and everything that it started.",
    role: "operator",
    answers: "json",
    input: ProcessSignal,
    output: processTools.process_signal.output,
    faults: ["process_not_found", "invalid_request"],
  },
  "process.input": {
    http: "POST /v1/processes/:process_id/input",
    summary: "Type into a process that has a terminal.",
    role: "operator",
    answers: "json",
    input: ProcessInput,
    output: processTools.process_input.output,
    faults: ["process_not_found", "invalid_request", "not_controller", "queue_full"],
  },
} as const satisfies Record<string, OperationSpec>;
