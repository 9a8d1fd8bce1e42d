import type { Answer, Question, ToolContext, ToolOutcome, Toolset } from "#agent/toolset.ts";

export interface TestContext extends ToolContext {
  readonly reports: readonly string[];
  readonly questions: readonly Question[];
  interrupt(): void;
}

/** What an agent gives to its tools; a question is answered as the test says. */
export function createToolContext(answer: Answer = { action: "cancel" }): TestContext {
  const stop = new AbortController();
  const reports: string[] = [];
  const questions: Question[] = [];
  return {
    signal: stop.signal,
    report: (text) => void reports.push(text),
    elicit: async (question) => {
      questions.push(question);
      return answer;
    },
    reports,
    questions,
    interrupt: () => stop.abort(),
  };
}

export type CallToolset = (
  tool: string,
  input?: Readonly<Record<string, unknown>>,
  context?: ToolContext,
) => Promise<ToolOutcome>;

/** The toolset's tools as a model calls them. */
export function callerOf(toolset: Pick<Toolset, "call">): CallToolset {
  return (tool, input = {}, context = createToolContext()) =>
    toolset.call({ call_id: "call_1", tool, input }, context);
}
