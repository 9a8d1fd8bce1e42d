import { expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import { type FaultCode, faults } from "#contract/faults.ts";
import { exitCodeOf, exitCodeOfProgram } from "./exit.ts";

/** Scripts depend on these: a literal, not the table read twice. */
const EXIT_CODES: Record<FaultCode, number> = {
  invalid_request: 2,
  unauthenticated: 4,
  forbidden: 4,
  workspace_mismatch: 4,
  session_not_found: 3,
  task_not_found: 3,
  workspace_not_found: 3,
  shell_not_found: 3,
  token_not_found: 3,
  process_not_found: 3,
  team_not_found: 3,
  run_not_found: 8,
  conflict: 5,
  busy: 5,
  already_exited: 5,
  not_controller: 5,
  input_out_of_order: 5,
  nothing_pending: 5,
  nothing_running: 5,
  ambiguous_target: 9,
  payload_too_large: 6,
  offset_out_of_range: 2,
  spawn_failed: 10,
  team_invalid: 11,
  too_many: 6,
  queue_full: 6,
  internal: 1,
  log_damaged: 1,
  unsupported: 12,
  unsupported_os: 12,
  model_failed: 13,
  host_unavailable: 7,
  shutting_down: 7,
  disk_full: 7,
  overloaded: 7,
};

test("every fault has the exit code that scripts know", () => {
  const codes = Object.keys(faults) as FaultCode[];
  const found = codes.map((code) => [code, exitCodeOf(new Fault(code, ""))]);
  expect(Object.fromEntries(found)).toEqual(EXIT_CODES);
});

test("what is no fault is a bug", () => {
  expect(exitCodeOf(new Error("x"))).toBe(1);
  expect(exitCodeOf("x")).toBe(1);
});

test.each([
  ["ENOENT", 127],
  ["EACCES", 126],
  ["ENOEXEC", 126],
  ["E2BIG", 10],
])("a program that cannot be started for %s is the exit code %i, as in a shell", (errno, code) => {
  const fault = new Fault("spawn_failed", "", { details: { program: "x", errno } });
  expect(exitCodeOfProgram(fault)).toBe(code);
});

test("a directory that cannot be worked in is the fault's own exit code", () => {
  const fault = new Fault("spawn_failed", "", { details: { work_dir: "/x", errno: "ENOENT" } });
  expect(exitCodeOfProgram(fault)).toBe(10);
});
