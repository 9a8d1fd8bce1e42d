import { expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import type { FaultCode } from "#contract/faults.ts";
import { listTeamProblems, placeFault } from "./fault-place.ts";

const FIELDS = ["directory", "command", "title", "team", "path", "agent", "task"];
const fault = (code: FaultCode, message: string, details = {}) =>
  new Fault(code, message, { details });

test.each([
  [fault("invalid_request", "agent_name: no such agent", { field: "agent_name" }), "agent"],
  [
    fault("invalid_request", "title: too long", { issues: [{ field: "title", message: "x" }] }),
    "title",
  ],
  [fault("spawn_failed", 'cannot work in "/x"', { errno: "ENOENT", work_dir: "/x" }), "directory"],
  [fault("spawn_failed", 'cannot run "x"', { errno: "ENOENT", program: "x" }), "command"],
  [fault("team_not_found", "there is no team x"), "team"],
  [fault("task_not_found", "there is no task x"), "task"],
  [fault("too_many", "2000 sessions run already"), "form"],
  [fault("invalid_request", "env: too large", { field: "env" }), "form"],
  [fault("invalid_request", "odd", { field: "constructor" }), "form"],
  [new Error("bug"), "form"],
])("%s belongs to the %s", (error, field) => {
  expect(Object.keys(placeFault(error, FIELDS))).toEqual([field]);
});

test("a fault of a field that the form does not have stands above the button, whole", () => {
  const wrong = fault("invalid_request", "title: too long", { field: "title" });
  expect(placeFault(wrong, ["command"])).toEqual({ form: "title: too long" });
});

test("a name that another session has is reported beside the field of the name", () => {
  const taken = new Fault("conflict", "the name build is taken", { details: { name: "build" } });
  expect(placeFault(taken, ["name", "title"])).toEqual({ name: "the name build is taken" });
});

test("beside its field the name is not said again", () => {
  const wrong = fault("invalid_request", "title: too long", { field: "title" });
  expect(placeFault(wrong, FIELDS)).toEqual({ title: "too long" });
});

test("what is wrong with a team file is told with its places", () => {
  const problems = [
    { line: 3, column: 5, path: "agents", message: "agents: is missing" },
    { line: 9, column: 1, path: "x", message: "x: is not known" },
  ];
  const wrong = fault("team_invalid", "t.yaml:3:5: …", { file: "t.yaml", line: 3, problems });
  expect(listTeamProblems(wrong)).toEqual([
    { place: "t.yaml:3:5", message: "agents: is missing" },
    { place: "t.yaml:9:1", message: "x: is not known" },
  ]);
});

test("other faults, and one without places, have none to tell", () => {
  expect(listTeamProblems(fault("team_not_found", "x", { problems: [{}] }))).toEqual([]);
  expect(listTeamProblems(fault("team_invalid", "no plain file"))).toEqual([]);
  expect(listTeamProblems(undefined)).toEqual([]);
});
