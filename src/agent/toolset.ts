import type { AgentEventOf } from "#contract/agent/events.ts";
import type { MessagePart } from "#contract/agent/message.ts";
import type { PromptCard, SkillCard } from "#contract/agent/views.ts";
import type { JsonSchema } from "#model/model.ts";

/** A tool as the agent knows it. */
export interface AgentTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonSchema;
  readonly hints: {
    readonly read_only: boolean;
    readonly destructive: boolean;
  };
  /** Asking it again with the same words makes sense: it is no loop. */
  readonly polling?: boolean | undefined;
}

export interface ToolCall {
  readonly call_id: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface ToolContext {
  /** Aborted when the turn is interrupted: stop, and end what the call has started. */
  readonly signal: AbortSignal;
  /** What the tool says while it works; shown to people, not to the model. */
  readonly report: (text: string) => void;
  /** Asks a person. The same call asks the same question under the same id, also in a later life. */
  readonly elicit: (question: Question) => Promise<Answer>;
}

export interface Question {
  readonly message: string;
  readonly schema: AgentEventOf<"elicitation.requested">["schema"];
}
export type Answer = Pick<AgentEventOf<"elicitation.resolved">, "action" | "content">;

/** What the model gets to read. A refusal or a failure is an outcome too: `is_error`, and a sentence that helps. */
export interface ToolOutcome {
  readonly output: string;
  readonly is_error?: boolean | undefined;
  readonly images?: readonly MessagePart[] | undefined;
  /** What the toolset is to remember across lives; it gets it back as `restored`. */
  readonly state?: AgentEventOf<"tool.result">["state"];
}

export type ToolsetState = AgentEventOf<"tools.changed">["status"];

/** A group of tools that starts and ends together. */
export interface Toolset extends AsyncDisposable {
  readonly name: string;
  readonly kind: string;
  /** Whether `restart` makes sense. */
  readonly restartable: boolean;
  readonly state: ToolsetState;
  /** Why it failed. */
  readonly problem: string | undefined;
  /** For the agent's instruction. */
  readonly instruction: string | undefined;
  /** Idempotent. A toolset that cannot start is `failed`; it does not throw and does not end the run. */
  start(): Promise<void>;
  restart(): Promise<void>;
  tools(): readonly AgentTool[];
  /** Input has been checked against nothing yet; a Fault becomes an error result. */
  call(call: ToolCall, context: ToolContext): Promise<ToolOutcome>;
  /** The list of tools or the state has changed. */
  onChanged(listener: () => void): Disposable;
  prompts(): Promise<readonly PromptCard[]>;
  /** Undefined = it has no such prompt. */
  runPrompt(name: string, args: Readonly<Record<string, string>>): Promise<string | undefined>;
  skills(): readonly SkillCard[];
}
