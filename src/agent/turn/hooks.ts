import type { ToolCall, ToolOutcome } from "#agent/toolset.ts";

export interface HookedCall {
  readonly blocked: string | undefined;
  /** The call as a hook changed it. */
  readonly input: ToolCall["input"] | undefined;
  readonly decision: "allow" | "ask" | "deny" | undefined;
  /** What is added for the model to read. */
  readonly context: readonly string[];
  /** Why the whole turn is to end behind this call. */
  readonly stop: string | undefined;
}

type HookedResult = Pick<HookedCall, "context" | "stop">;

export interface HookedInput {
  readonly blocked: string | undefined;
  /** The text as a hook changed it. */
  readonly text: string | undefined;
  readonly context: readonly string[];
}

/** The moments of a turn at which commands of the user run. */
export interface TurnHooks {
  beforeTool(call: ToolCall, signal: AbortSignal): Promise<HookedCall>;
  afterTool(call: ToolCall, outcome: ToolOutcome, signal: AbortSignal): Promise<HookedResult>;
  onUserInput(text: string, signal: AbortSignal): Promise<HookedInput>;
  /** Why it may not stop yet; undefined = it may. */
  onStop(text: string, signal: AbortSignal): Promise<string | undefined>;
  onSessionStart(source: "new" | "resume", signal: AbortSignal): Promise<readonly string[]>;
  onSessionEnd(reason: string, signal: AbortSignal): Promise<void>;
}
