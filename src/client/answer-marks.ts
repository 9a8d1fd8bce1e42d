import type { CallName } from "#contract/operations.ts";

/**
 * A field that the answer of an operation always has, with `[]` when it is a list. An answer without it did not come from
 * Reins: another program that answers every path with JSON would otherwise be taken at its word. One field for each, so
 * that a server that is older than this client is understood.
 */
export const answerMarks: Readonly<Partial<Record<CallName, string>>> = {
  "session.create": "session_id",
  "session.list": "sessions[]",
  "session.glances": "glances[]",
  "session.get": "session_id",
  "session.update": "session_id",
  "session.close": "session_id",
  "session.wait": "matched",
  "shell.create": "shell_id",
  "shell.list": "shells[]",
  "shell.get": "shell_id",
  "process.execute": "success",
  "process.list": "processes[]",
  "process.output": "success",
  "process.wait": "success",
  "process.signal": "success",
  "process.input": "success",
  "team.load": "agent_names[]",
  "team.list": "teams[]",
  "agent.create": "session_id",
  "agent.send": "status",
  "agent.steer": "status",
  "agent.followup": "status",
  "agent.fork": "session_id",
  "agent.snapshot": "agents[]",
  "agent.transcript": "messages[]",
  "agent.queue": "waiting[]",
  "agent.team": "agent_names[]",
  "agent.tools": "tools[]",
  "agent.toolsets": "toolsets[]",
  "agent.models": "models[]",
  "agent.prompts": "prompts[]",
  "agent.skills": "skills[]",
  "workspace.create": "workspace_id",
  "workspace.list": "workspaces[]",
  "task.create": "task_id",
  "task.list": "tasks[]",
  "directory.list": "names[]",
  "caller.get": "user_id",
  "token.create": "token_id",
  "token.list": "tokens[]",
  "ticket.create": "ticket",
  "audit.list": "entries[]",
  "server.health": "status",
};

export function hasMark(name: CallName, answer: Readonly<Record<string, unknown>>): boolean {
  const mark = answerMarks[name];
  if (mark === undefined) return true;
  const value = answer[mark.replace("[]", "")];
  return mark.endsWith("[]") ? Array.isArray(value) : value !== undefined;
}
