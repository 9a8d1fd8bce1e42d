import { Fault } from "#contract/fault.ts";
import { isObject } from "#contract/values/is-object.ts";
import { sayFault } from "#web/live/page-client.ts";
import type { Problems } from "./start-input.ts";

/** How the table calls them → how the forms do. */
const FIELDS: Readonly<Record<string, string>> = {
  work_dir: "directory",
  working_dir: "directory",
  command: "command",
  argv: "command",
  title: "title",
  name: "name",
  task_id: "task",
  workspace_id: "workspace",
  source: "team",
  "source.path": "path",
  "source.name": "team",
  team_id: "team",
  agent_name: "agent",
  safety: "safety",
  messages: "message",
};

/** A fault beside the field that it is about, where the form has it; else above its button. */
export function placeFault(error: unknown, fields: readonly string[]): Problems {
  const named = error instanceof Fault ? nameField(error) : undefined;
  const field = named === undefined || !Object.hasOwn(FIELDS, named) ? undefined : FIELDS[named];
  if (named === undefined || field === undefined || !fields.includes(field))
    return { form: sayFault(error) };
  return { [field]: withoutName(sayFault(error), named) };
}

function nameField({ code, details }: Fault): string | undefined {
  if (typeof details.field === "string") return details.field;
  const [issue] = Array.isArray(details.issues) ? details.issues : [];
  if (isObject(issue) && typeof issue.field === "string") return issue.field;
  // A program or a directory that cannot be used is named as such.
  if (code === "spawn_failed" && details.work_dir !== undefined) return "work_dir";
  if (code === "spawn_failed" && details.program !== undefined) return "command";
  if (code === "conflict" && details.name !== undefined) return "name";
  if (code === "task_not_found") return "task_id";
  if (code === "team_not_found" || code === "team_invalid") return "source";
  return undefined;
}

/** The label says the field's name already. */
function withoutName(sentence: string, named: string): string {
  return sentence.startsWith(`${named}: `) ? sentence.slice(named.length + 2) : sentence;
}

interface TeamProblem {
  readonly place: string;
  readonly message: string;
}

const PROBLEMS_SHOWN = 8;

/** What is wrong with a team file, and where in it. */
export function listTeamProblems(error: unknown): readonly TeamProblem[] {
  if (!(error instanceof Fault) || error.code !== "team_invalid") return [];
  const { file, problems } = error.details;
  const name = typeof file === "string" ? file : "";
  if (!Array.isArray(problems)) return [];
  return problems
    .filter(isObject)
    .slice(0, PROBLEMS_SHOWN)
    .map((problem) => ({
      place: [name, problem.line, problem.column].filter((part) => part !== undefined).join(":"),
      message: String(problem.message ?? ""),
    }));
}
