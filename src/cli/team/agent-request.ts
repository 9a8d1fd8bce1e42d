import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { TeamSource } from "#contract/agent/spec.ts";
import { AgentCreate } from "#contract/operations/agent.ts";
import { parseRequest } from "#contract/parse.ts";
import type { TeamPlan } from "./team-plan.ts";

export type AgentSettings = Pick<
  TeamPlan,
  "agent" | "models" | "promptFiles" | "workingDir" | "safety" | "name" | "title" | "isHeadless"
> & {
  /** Whether it runs behind a server: then paths are the server's. */
  readonly isRemote: boolean;
  readonly source?: TeamSource | undefined;
  /** Instead of the source: a team that was loaded before. */
  readonly teamId?: string | undefined;
  /** Which task it is for. */
  readonly task?: string | undefined;
  /** Comes back to this one. */
  readonly session?: string | undefined;
};

/** The one place where what was asked for becomes a session's request: the first one, and each that comes after it. */
export function createAgentRequest(settings: AgentSettings): AgentCreate {
  const { session, source, models, promptFiles, isHeadless } = settings;
  if (session !== undefined) return parse({ resume_session_id: session });
  return parse({
    source,
    team_id: settings.teamId,
    agent_name: settings.agent,
    working_dir: locate(settings),
    safety: settings.safety,
    name: settings.name,
    title: settings.title,
    task_id: settings.task,
    model_overrides: Object.keys(models).length === 0 ? undefined : { ...models },
    prompt_files: promptFiles.length === 0 ? undefined : findPromptFiles(settings),
    headless: isHeadless ? true : undefined,
  });
}

/** As it goes over the wire: without what is undefined. */
function parse(request: object): AgentCreate {
  const said = Object.entries(request).filter(([, value]) => value !== undefined);
  return parseRequest(AgentCreate, Object.fromEntries(said));
}

function locate({ workingDir, isRemote }: AgentSettings): string | undefined {
  return workingDir === undefined || isRemote ? workingDir : resolve(workingDir);
}

/** A file that is here is meant; another name is looked for by the agent, from its working dir upwards. */
function findPromptFiles({
  promptFiles,
  isRemote,
}: Pick<AgentSettings, "promptFiles" | "isRemote">): string[] {
  return promptFiles.map((file) => (!isRemote && existsSync(file) ? resolve(file) : file));
}
