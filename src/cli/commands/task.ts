import { statSync } from "node:fs";
import { resolve } from "node:path";
import { openRecords } from "#cli/admin/records.ts";
import { collect, given, parseTyped, runEach, runVerb } from "#cli/admin/verbs.ts";
import { parseOptions, refuseWords } from "#cli/program/options.ts";
import { printable } from "#cli/program/printable.ts";
import { Fault } from "#contract/fault.ts";
import { operations } from "#contract/operations.ts";
import { parseRequest } from "#contract/parse.ts";
import type { Task } from "#contract/workspace.ts";
import { describeAge, renderColumns, shorten } from "./ps.ts";

export function run(argv: readonly string[]): Promise<number> {
  return runVerb("task", { create, list, delete: remove }, argv);
}

const everywhere = { "data-dir": { type: "string" }, json: { type: "boolean" } } as const;
const scope = { workspace: { type: "string" }, issue: { type: "string" } } as const;
const typed = {
  workspace_id: "--workspace",
  issue_id: "--issue",
  prior_session_id: "--prior-session",
  title: "--title",
  work_dir: "the directory",
};

async function create(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    ...everywhere,
    ...scope,
    "prior-session": { type: "string" },
    title: { type: "string" },
  });
  const [dir = ".", ...rest] = positionals;
  refuseWords(rest);
  const asked = given({
    work_dir: getDirectory(dir),
    workspace_id: values.workspace,
    issue_id: values.issue,
    prior_session_id: values["prior-session"],
    title: values.title,
  });
  const input = parseTyped(typed, () => parseRequest(operations["task.create"].input, asked));
  using records = await openRecords(values["data-dir"]);
  const task = await records.operations["task.create"](input);
  process.stdout.write(`${values.json === true ? JSON.stringify(task) : task.task_id}\n`);
  return 0;
}

async function list(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, { ...everywhere, ...scope });
  refuseWords(positionals);
  const asked = given({ workspace_id: values.workspace, issue_id: values.issue });
  const input = parseTyped(typed, () => parseRequest(operations["task.list"].input, asked));
  using records = await openRecords(values["data-dir"]);
  const tasks = await collect(async (page) => {
    const { tasks: rows, cursor } = await records.operations["task.list"]({ ...input, ...page });
    return { rows, cursor };
  });
  process.stdout.write(
    values.json === true ? `${JSON.stringify({ tasks })}\n` : renderTasks(tasks, Date.now()),
  );
  return 0;
}

async function remove(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, everywhere);
  if (positionals.length === 0)
    throw new Fault(
      "invalid_request",
      "say which: reins task delete ID… (reins task list shows them)",
    );
  using records = await openRecords(values["data-dir"]);
  return await runEach(positionals, async (task_id) => {
    const { input } = operations["task.delete"];
    const request = parseTyped({ task_id }, () => parseRequest(input, { task_id }));
    await records.operations["task.delete"](request);
    const line = values.json === true ? JSON.stringify(request) : `${task_id} deleted`;
    process.stdout.write(`${line}\n`);
  });
}

const TITLE_WIDTH = 40;

function renderTasks(tasks: readonly Task[], now: number): string {
  const rows = tasks.map((task) => [
    task.task_id,
    task.workspace_id,
    describeAge(now - Date.parse(task.created_at)),
    printable(task.issue_id ?? "-"),
    shorten(printable(task.title), TITLE_WIDTH),
    printable(task.work_dir),
  ]);
  return renderColumns([["ID", "WORKSPACE", "AGE", "ISSUE", "TITLE", "DIRECTORY"], ...rows]);
}

/** Links stay as they were named: the terminal is where the task says. */
function getDirectory(word: string): string {
  const path = resolve(word);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new Fault("invalid_request", `${path} is no directory`);
}
