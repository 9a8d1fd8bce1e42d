import { limits } from "#contract/limits.ts";
import type { OperationInput } from "#contract/operations.ts";
import { defined } from "#contract/values/defined.ts";

type SessionInput = OperationInput<"session.create">;
type AgentInput = OperationInput<"agent.create">;
export type SafetyMode = NonNullable<AgentInput["safety"]>;

/** What is wrong, by the field that it is wrong in; `form` for what belongs to no field. */
export type Problems = Readonly<Record<string, string>>;

export type Checked<T> =
  | { readonly isValid: true; readonly input: T }
  | { readonly isValid: false; readonly problems: Problems };

interface Place {
  readonly directory: string;
  readonly workspaceId: string | undefined;
  /** Where the caller's sessions start that are not told where. */
  readonly workDir: string;
}

interface ShellForm extends Place {
  /** A task brings its own directory. */
  readonly taskId: string | undefined;
  readonly title: string;
}

interface CommandForm extends Place {
  readonly command: string;
  readonly isTerminal: boolean;
  readonly title: string;
}

export interface AgentForm extends Place {
  readonly team: TeamChoice | undefined;
  readonly agent: string;
  readonly safety: SafetyMode | undefined;
  readonly message: string;
}

export type TeamChoice =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "path"; readonly path: string };

export function checkShell(form: ShellForm): Checked<SessionInput> {
  const problems = { ...checkTitle(form.title), ...(form.taskId ? {} : checkDirectory(form)) };
  const place =
    form.taskId === undefined
      ? { ...inWorkspace(form), ...inDirectory(form, "work_dir") }
      : { task_id: form.taskId };
  return settle(problems, { kind: "terminal", ...place, ...titled(form.title) });
}

export function checkCommand(form: CommandForm): Checked<SessionInput> {
  const problems = {
    ...checkText("command", form.command, limits.body_bytes),
    ...(form.command.trim() === "" ? { command: "Say what to run." } : {}),
    ...checkTitle(form.title),
    ...checkDirectory(form),
  };
  return settle(problems, {
    kind: form.isTerminal ? "terminal" : "command",
    command: form.command,
    ...inWorkspace(form),
    ...inDirectory(form, "work_dir"),
    ...titled(form.title),
  });
}

export function checkAgent(form: AgentForm): Checked<AgentInput> {
  const { team, agent, safety, message } = form;
  const problems = {
    ...checkTeam(team),
    ...checkDirectory(form),
    ...(message.length > limits.message_chars
      ? { message: `A message has at most ${limits.message_chars} characters.` }
      : {}),
  };
  return settle(problems, {
    ...(team === undefined ? {} : { source: toSource(team) }),
    ...(agent === "" ? {} : { agent_name: agent }),
    ...defined({ safety }),
    ...inWorkspace(form),
    ...inDirectory(form, "working_dir"),
  });
}

export function toSource(team: TeamChoice): TeamChoice {
  return team.kind === "name" ? team : { kind: "path", path: team.path.trim() };
}

/** As a person writes it: `~` and what does not begin with a slash start where the caller's sessions start. */
export function resolveDirectory(typed: string, workDir: string): string {
  const path = typed.trim();
  if (path === "" || path === "~") return workDir;
  if (path.startsWith("/")) return trimSlashes(path);
  const below = path.startsWith("~/") ? path.slice(2) : path;
  return trimSlashes(`${workDir === "/" ? "" : workDir}/${below}`);
}

function trimSlashes(path: string): string {
  return path.replace(/\/+$/, "") || "/";
}

function inDirectory<K extends "work_dir" | "working_dir">(
  { directory, workDir }: Place,
  key: K,
): Partial<Record<K, string>> {
  const path = resolveDirectory(directory, workDir);
  // One key of K, which the compiler does not see in a computed one.
  return (path === "" ? {} : { [key]: path }) as Partial<Record<K, string>>;
}

function inWorkspace({ workspaceId }: Place) {
  return defined({ workspace_id: workspaceId });
}

function titled(title: string) {
  return title.trim() === "" ? {} : { title: title.trim() };
}

function checkTeam(team: TeamChoice | undefined): Problems {
  if (team === undefined) return { team: "Choose a team." };
  if (team.kind === "name") return {};
  if (team.path.trim() === "") return { path: "Say where the team file is." };
  return checkText("path", team.path, limits.path_bytes);
}

function checkTitle(title: string): Problems {
  return checkText("title", title, limits.title_chars);
}

function checkDirectory({ directory }: Place): Problems {
  return checkText("directory", directory, limits.path_bytes);
}

function checkText(field: string, text: string, most: number): Problems {
  if (text.includes("\0")) return { [field]: "It must not contain a NUL character." };
  return text.length > most ? { [field]: `It has at most ${most} characters.` } : {};
}

function settle<T>(problems: Problems, input: T): Checked<T> {
  return Object.keys(problems).length === 0
    ? { isValid: true, input }
    : { isValid: false, problems };
}
