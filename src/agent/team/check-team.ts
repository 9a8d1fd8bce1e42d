import { parsePattern } from "#agent/permission/pattern.ts";
import { checkAgents } from "#agent/team-file/check-agents.ts";
import { checkToolsets } from "#agent/team-file/check-toolsets.ts";
import type { HooksEntry } from "#agent/team-file/file-parts.ts";
import { parseMatcher } from "#agent/team-file/matcher.ts";
import type { TeamFile } from "#agent/team-file/team-file.ts";
import type { Finding, Path } from "#agent/team-file/team-problem.ts";
import { Fault } from "#contract/fault.ts";
import { findModelProblem, findProviderProblem, findSourceProblem } from "./check-models.ts";

const VERSION = 1;

/** What the schema cannot see: names that lead nowhere, and texts that do not parse. */
export function checkTeam(file: TeamFile): Finding[] {
  return [
    ...checkVersion(file.version),
    ...checkAgents(file.agents),
    ...checkModels(file),
    ...Object.entries(file.agents).flatMap(([name, agent]) => [
      ...checkToolsets(agent.toolsets ?? [], ["agents", name, "toolsets"]),
      ...checkHooks(agent.hooks, ["agents", name, "hooks"]),
    ]),
    ...checkHooks(file.hooks, ["hooks"]),
    ...checkPermissions(file.permissions),
  ];
}

function checkVersion(version: TeamFile["version"]): Finding[] {
  if (version === undefined || String(version) === String(VERSION)) return [];
  const path = ["version"];
  if (Number(version) > VERSION) {
    const message = `the file is of version ${version}; this Reins reads version ${VERSION}`;
    return [{ path, message }];
  }
  return [{ path, message: `\`version\` must be ${VERSION}` }];
}

function checkModels({ agents, models = {}, providers = {} }: TeamFile): Finding[] {
  const known = { models, providers };
  const check = (reference: string, path: Path): Finding[] => {
    // What is wrong with an entry of the file is said there, once.
    const problem = Object.hasOwn(models, reference)
      ? undefined
      : findModelProblem(reference, known);
    return problem === undefined ? [] : [{ path, ...problem }];
  };
  const ofAgents = Object.entries(agents).flatMap(([name, { model, fallback }]) => [
    ...check(model, ["agents", name, "model"]),
    ...(fallback?.models ?? []).flatMap((reference, index) =>
      check(reference, ["agents", name, "fallback", "models", index]),
    ),
  ]);
  const ofModels = Object.entries(models).flatMap(([name, { provider }]) => {
    const problem = findProviderProblem(provider, providers) ?? findSourceProblem(name, known);
    return problem === undefined ? [] : [{ path: ["models", name, "provider"], ...problem }];
  });
  return [...ofAgents, ...ofModels];
}

function checkHooks(hooks: HooksEntry | undefined, base: Path): Finding[] {
  return (["pre_tool_use", "post_tool_use"] as const).flatMap((event) =>
    (hooks?.[event] ?? []).flatMap(({ matcher }, index) => {
      const parsed = parseMatcher(matcher);
      if (parsed.ok) return [];
      const path = [...base, event, index, "matcher"];
      return [{ path, message: `\`matcher\` is no regular expression: ${parsed.problem}` }];
    }),
  );
}

function checkPermissions(permissions: TeamFile["permissions"]): Finding[] {
  return (["allow", "ask", "deny"] as const).flatMap((kind) =>
    (permissions?.[kind] ?? []).flatMap((text, index) => {
      try {
        parsePattern(text);
        return [];
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        const path = ["permissions", kind, index];
        return [{ path, message: error.message }];
      }
    }),
  );
}
