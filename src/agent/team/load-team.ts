import { createHash } from "node:crypto";
import { explainIssues } from "#agent/team-file/explain-issues.ts";
import { TeamFile } from "#agent/team-file/team-file.ts";
import { createTeamFault, type Finding } from "#agent/team-file/team-problem.ts";
import { valueAt } from "#agent/team-file/team-schema.ts";
import { parseYaml } from "#agent/team-file/yaml-source.ts";
import { checkTeam } from "./check-team.ts";
import { createTeam } from "./create-team.ts";
import type { Team } from "./team.ts";

export interface TeamText {
  readonly yaml: string;
  /** Its path or name, for messages. */
  readonly name: string;
  /** What relative paths in the file start from. */
  readonly base_dir: string;
}

const TEAM_ID_DIGITS = 32;

/** Reads, checks and fills in; whatever is wrong is a Fault `team_invalid` with its line and column. */
export function loadTeam({ yaml, name, base_dir }: TeamText): Team {
  const source = parseYaml(name, yaml);
  const { file, findings } = readFile(source.value);
  if (file === undefined || findings.length > 0)
    throw createTeamFault(
      name,
      findings.map((finding) => source.locate(finding)),
    );
  return createTeam(file, { team_id: createTeamId(yaml), name, base_dir });
}

/** The same text has the same id. */
function createTeamId(yaml: string): string {
  const digits = createHash("sha256").update(yaml).digest("hex");
  return `team_${digits.slice(0, TEAM_ID_DIGITS)}`;
}

interface Reading {
  readonly file: TeamFile | undefined;
  readonly findings: readonly Finding[];
}

function readFile(value: unknown): Reading {
  if (value === null) {
    const message = "the file is empty; a team needs `agents`";
    return { file: undefined, findings: [{ path: [], message }] };
  }
  const parsed = TeamFile.safeParse(value);
  if (parsed.success) return { file: parsed.data, findings: checkTeam(parsed.data) };
  const findings = explainIssues(parsed.error.issues, value);
  if (parsed.error.issues.some((issue) => issue.code !== "unrecognized_keys"))
    return { file: undefined, findings };
  // Keys that nobody knows do not keep us from saying what else is wrong.
  const rest = TeamFile.safeParse(withoutKeys(value, findings));
  return {
    file: undefined,
    findings: [...findings, ...(rest.success ? checkTeam(rest.data) : [])],
  };
}

function withoutKeys(value: unknown, findings: readonly Finding[]): unknown {
  const copy: unknown = structuredClone(value);
  for (const { path } of findings) {
    const parent = valueAt(copy, path.slice(0, -1));
    if (typeof parent === "object" && parent !== null)
      Reflect.deleteProperty(parent, path.at(-1) ?? "");
  }
  return copy;
}
