import { askWhether, type Finding } from "#agent/team-file/team-problem.ts";
import { findNearest } from "#base/nearest.ts";
import { Fault } from "#contract/fault.ts";
import { builtInProviders, getSource } from "#model/source.ts";
import type { Team } from "./team.ts";

type Known = Pick<Team, "models" | "providers">;
type ModelProblem = Pick<Finding, "message" | "suggestion">;

/** Why a reference to a model leads nowhere; undefined when it leads to one. */
export function findModelProblem(reference: string, known: Known): ModelProblem | undefined {
  return findNameProblem(reference, known) ?? findSourceProblem(reference, known);
}

function findNameProblem(reference: string, known: Known): ModelProblem | undefined {
  const { models, providers } = known;
  if (Object.hasOwn(models, reference)) return undefined;
  const slash = reference.indexOf("/");
  if (slash === -1) {
    const suggestion = findNearest(reference, Object.keys(models));
    const advice = askWhether(suggestion) || "; write a name of `models`, or `provider/model`";
    return { message: `there is no model \`${reference}\`${advice}`, suggestion };
  }
  if (slash === reference.length - 1)
    return { message: `\`${reference}\` does not say which model of the provider` };
  return findProviderProblem(reference.slice(0, slash), providers);
}

/** What only who opens the model can say. */
export function findSourceProblem(reference: string, known: Known): ModelProblem | undefined {
  try {
    getSource(known, reference);
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return { message: error.message };
    throw error;
  }
}

export function findProviderProblem(
  provider: string,
  providers: Known["providers"],
): ModelProblem | undefined {
  const known = [...new Set([...builtInProviders, ...Object.keys(providers)])];
  if (known.includes(provider)) return undefined;
  const suggestion = findNearest(provider, known);
  const advice = askWhether(suggestion) || `; known are ${known.join(", ")}`;
  return { message: `there is no provider \`${provider}\`${advice}`, suggestion };
}
