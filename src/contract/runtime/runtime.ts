import type { SentMessage } from "#contract/agent/message.ts";
import type {
  AgentCard,
  AgentSnapshot,
  ModelCard,
  PermissionsView,
  PromptCard,
  QueueStatus,
  SkillCard,
  TeamSummary,
  ToolCard,
  ToolsetStatus,
  Transcript,
} from "#contract/agent/views.ts";
import type { AgentCreate, AnyEvent } from "#contract/operations/agent.ts";
import type { WorkerInput, WorkerOutput } from "#contract/operations/worker-requests.ts";
import type { StreamItem } from "#contract/operations.ts";

/**
 * One agent session, wherever it runs: behind the host of this machine, behind a server, or in this very process.
 * There is nothing optional in here: what an implementation cannot do is a Fault `unsupported`, never an empty list
 * and never a made-up value.
 */
export interface Runtime extends AsyncDisposable {
  readonly session_id: string;

  currentAgent(): Promise<AgentCard>;
  /** An unknown name is refused, and the current agent stays. */
  setCurrentAgent(name: string): Promise<void>;

  tools(): Promise<readonly ToolCard[]>;
  toolsets(): Promise<readonly ToolsetStatus[]>;
  restartToolset(name: string): Promise<ToolsetStatus>;
  /** Called when the tools of the current agent have changed. */
  onToolsChanged(listener: () => void): Disposable;

  /** Sends and follows the turn until it has ended; who stops reading does not stop the turn. */
  run(messages: readonly SentMessage[], options?: RunOptions): AsyncIterable<StreamItem<AnyEvent>>;
  send(messages: readonly SentMessage[], key?: string): Promise<WorkerOutput<"messages">>;
  /** Everything from `since` on, and what comes. */
  events(options?: FollowOptions): AsyncIterable<StreamItem<AnyEvent>>;
  steer(request: WorkerInput<"steer">): Promise<WorkerOutput<"steer">>;
  followUp(request: WorkerInput<"followup">): Promise<WorkerOutput<"followup">>;
  queue(): Promise<QueueStatus>;
  interrupt(): Promise<boolean>;

  resume(answer: WorkerInput<"resume">): Promise<void>;
  answerElicitation(answer: WorkerInput<"elicitation">): Promise<void>;

  summarize(instruction?: string): Promise<WorkerOutput<"summarize">>;
  snapshot(): Promise<AgentSnapshot>;
  transcript(page?: { readonly limit?: number; readonly from?: number }): Promise<Transcript>;
  fork(at: number): Promise<string>;

  permissions(): Promise<PermissionsView>;
  setPermissions(change: WorkerInput<"permissions">): Promise<void>;

  prompts(): Promise<readonly PromptCard[]>;
  runPrompt(name: string, args?: Readonly<Record<string, string>>): Promise<string>;
  skills(): Promise<readonly SkillCard[]>;

  models(): Promise<readonly ModelCard[]>;
  setModel(choice: Omit<WorkerInput<"model">, "keys">): Promise<void>;

  title(): Promise<string>;
  setTitle(title: string): Promise<void>;
  /** What a new viewer shows first: the team, the agent, the tools' state. */
  startup(): Promise<TeamSummary>;
}

interface RunOptions {
  readonly idempotency_key?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface FollowOptions {
  readonly since?: number | "tail" | undefined;
  readonly follow?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Where sessions come from. */
export interface RuntimeBackend {
  load(request: LoadRequest): Promise<TeamSummary>;
  create(request: AgentCreate): Promise<Runtime>;
  open(sessionId: string): Promise<Runtime>;
}

type LoadRequest = Pick<AgentCreate, "model_overrides" | "prompt_files" | "working_dir"> & {
  readonly source: NonNullable<AgentCreate["source"]>;
};
