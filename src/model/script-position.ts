import type { ModelRequest } from "./model.ts";
import { isFailing, type Script } from "./script.ts";
import { isMatch } from "./script-match.ts";

/**
 * Which step a request gets. It follows from the request, so a new life of a worker goes on where the last one was:
 *
 *   1. the first step with a `when` that matches
 *   2. else the n-th of the others, n = the answers in the history that this script gave in its turn
 *
 * An answer is one of the turn unless, with what had been said before it, a `when` matches. A failing step leaves no
 * answer: it stands before the next answer and is played once by each life (`played`), then passed over. A step with
 * `repeat` is never passed.
 */
export function findStep(
  script: Script,
  at: {
    readonly request: ModelRequest;
    /** Whose answers are counted. */
    readonly model: string;
    /** Failing steps that this life has played. */
    readonly played: ReadonlySet<number>;
  },
): number | undefined {
  const matching = script.findIndex(
    (step, index) =>
      step.when !== undefined &&
      !(isFailing(step) && step.repeat === undefined && at.played.has(index)) &&
      isMatch(step.when, at.request),
  );
  if (matching >= 0) return matching;
  return findInTurn(script, { answers: countAnswers(script, at), played: at.played });
}

function findInTurn(
  script: Script,
  { answers, played }: { readonly answers: number; readonly played: ReadonlySet<number> },
): number | undefined {
  let before = 0;
  for (const [index, step] of script.entries()) {
    if (step.when !== undefined) continue;
    const isNext = before === answers;
    if (isFailing(step)) {
      if (isNext && (step.repeat === true || !played.has(index))) return index;
      continue;
    }
    if (isNext || step.repeat === true) return index;
    before += 1;
  }
  return undefined;
}

function countAnswers(
  script: Script,
  { request, model }: { readonly request: ModelRequest; readonly model: string },
): number {
  const matchers = script.flatMap((step) =>
    step.when === undefined || isFailing(step) ? [] : [step.when],
  );
  const wasInTurn = (index: number) => {
    if (matchers.length === 0) return true;
    const then = { ...request, messages: request.messages.slice(0, index) };
    return !matchers.some((when) => isMatch(when, then));
  };
  return request.messages.filter(
    (message, index) => message.role === "assistant" && message.model === model && wasInTurn(index),
  ).length;
}
