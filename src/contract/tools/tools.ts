import type * as z from "zod";
import { processTools } from "./process-tools.ts";
import { sessionTools, terminalTools } from "./terminal-tools.ts";
import type { ToolSpec } from "./tool-spec.ts";

/** Everything that a model may be given. */
export const tools = {
  ...processTools,
  ...terminalTools,
  ...sessionTools,
} as const satisfies Record<string, ToolSpec>;

export type ToolName = keyof typeof tools;
/** Behind the schema: durations are milliseconds. */
export type ToolInput<N extends ToolName> = z.output<(typeof tools)[N]["input"]>;
export type ToolOutput<N extends ToolName> = z.output<(typeof tools)[N]["output"]>;

export interface ToolOptions {
  /** Ends the wait; what was started goes on. */
  readonly signal?: AbortSignal;
  /** Hears the id of what the call has started, before anything is waited for. */
  readonly onStarted?: (sessionId: string) => void;
  /** Whether the model that calls also has `read_file`, which it may then be pointed to. */
  readonly hasFileTool?: boolean;
}

/** One handler for each tool. What is refused is a Fault; who serves models makes a result of it. */
export type Tools = {
  readonly [N in ToolName]: (input: ToolInput<N>, options?: ToolOptions) => Promise<ToolOutput<N>>;
};
