import type { LinearPattern, PatternFlags } from "#base/linear-pattern.ts";
import { refused } from "./file-scope.ts";

/** The engine is loaded with the first pattern. `pattern: …` when it is not one. */
export async function compilePattern(source: string, flags: PatternFlags): Promise<LinearPattern> {
  const { compileLinear, PatternProblem } = await import("#base/linear-pattern.ts");
  try {
    return compileLinear(source, flags);
  } catch (error) {
    if (error instanceof PatternProblem) throw refused(`pattern: ${error.message}`);
    throw error;
  }
}
