import { expect, test } from "vitest";
import {
  type AgentForm,
  checkAgent,
  checkCommand,
  checkShell,
  resolveDirectory,
} from "./start-input.ts";

const place = { directory: "", workspaceId: undefined, workDir: "/home/ada" };
const shell = { ...place, taskId: undefined, title: "" };
const command = { ...place, command: "make", isTerminal: true, title: "" };
const agent: AgentForm = {
  ...place,
  ...{ team: { kind: "name", name: "hello" }, agent: "", safety: undefined, message: "" },
};

test.each([
  ["", "/home/ada"],
  ["  ", "/home/ada"],
  ["~", "/home/ada"],
  ["~/src/", "/home/ada/src"],
  ["src", "/home/ada/src"],
  ["/srv//", "/srv"],
  ["/", "/"],
  ["~ada", "/home/ada/~ada"],
])("%o is the directory %s", (typed, path) => {
  expect(resolveDirectory(typed, "/home/ada")).toBe(path);
});

test("below the root there is one slash", () => {
  expect(resolveDirectory("src", "/")).toBe("/src");
});

test("a shell is a terminal in a directory, with a title and a workspace where they are given", () => {
  expect(checkShell(shell)).toEqual({
    isValid: true,
    input: { kind: "terminal", work_dir: "/home/ada" },
  });
  expect(checkShell({ ...shell, directory: "x", title: " T ", workspaceId: "wsp_a" })).toEqual({
    isValid: true,
    input: { kind: "terminal", work_dir: "/home/ada/x", title: "T", workspace_id: "wsp_a" },
  });
});

test("a task brings its own directory and workspace", () => {
  const asked = checkShell({ ...shell, taskId: "tsk_1", directory: "/x", workspaceId: "wsp_a" });
  expect(asked).toEqual({ isValid: true, input: { kind: "terminal", task_id: "tsk_1" } });
});

test("where the server works is its own choice as long as nobody knows it", () => {
  expect(checkShell({ ...shell, workDir: "" })).toEqual({
    isValid: true,
    input: { kind: "terminal" },
  });
});

test("a command runs in a terminal or on pipes, as it was typed", () => {
  expect(checkCommand({ ...command, command: " ls | wc " })).toMatchObject({
    input: { kind: "terminal", command: " ls | wc ", work_dir: "/home/ada" },
  });
  expect(checkCommand({ ...command, isTerminal: false })).toMatchObject({
    input: { kind: "command", command: "make" },
  });
});

test("an agent gets what was chosen, and nothing that was not", () => {
  expect(checkAgent(agent)).toEqual({
    isValid: true,
    input: { source: { kind: "name", name: "hello" }, working_dir: "/home/ada" },
  });
  const path = { kind: "path", path: " /t.yaml " } as const;
  expect(checkAgent({ ...agent, team: path, agent: "root", safety: "strict" })).toMatchObject({
    input: { source: { kind: "path", path: "/t.yaml" }, agent_name: "root", safety: "strict" },
  });
});

test.each([
  ["command", checkCommand({ ...command, command: "  " })],
  ["command", checkCommand({ ...command, command: "a\0b" })],
  ["directory", checkCommand({ ...command, directory: "/\0" })],
  ["directory", checkShell({ ...shell, directory: "x".repeat(4097) })],
  ["title", checkShell({ ...shell, title: "x".repeat(201) })],
  ["team", checkAgent({ ...agent, team: undefined })],
  ["path", checkAgent({ ...agent, team: { kind: "path", path: " " } })],
  ["message", checkAgent({ ...agent, message: "x".repeat(256 * 1024 + 1) })],
])("what is wrong with the %s is said there", (field, checked) => {
  expect(checked).toEqual({ isValid: false, problems: { [field]: expect.any(String) } });
});
