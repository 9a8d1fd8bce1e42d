import { readFileSync } from "node:fs";
import type { AgentPorts } from "#agent/ports.ts";
import type { AgentState } from "#agent/state/agent-state.ts";
import { applyOverrides, describeAgent, modelOf } from "#agent/team/describe-team.ts";
import { loadTeam } from "#agent/team/load-team.ts";
import type { Team } from "#agent/team/team.ts";
import { Questions } from "#agent/turn/approvals.ts";
import { Background } from "#agent/turn/background.ts";
import { Budget } from "#agent/turn/budget.ts";
import { compact } from "#agent/turn/compaction.ts";
import { MessageQueue } from "#agent/turn/message-queue.ts";
import { PermissionBook } from "#agent/turn/permission-book.ts";
import { copyHistory, type Inherited, repairCut } from "#agent/turn/repair.ts";
import type { Actor, Emit, Stage } from "#agent/turn/stage.ts";
import { runTurn } from "#agent/turn/turn.ts";
import type { AgentEvent, AgentEventBody } from "#contract/agent/events.ts";
import type { AgentSpec, RunLimits } from "#contract/agent/spec.ts";
import { Fault } from "#contract/fault.ts";
import type {
  WorkerInput,
  WorkerOutput,
  WorkerRequestType,
} from "#contract/operations/worker-requests.ts";
import { defined } from "#contract/values/defined.ts";
import { openModels } from "#model/chain/open-models.ts";
import { Casting, getDefinition } from "./casting.ts";
import { createTurnHooks } from "./create-hooks.ts";
import { describeModels, describeTools } from "./describe-agent.ts";
import { chooseFresh, toQueued } from "./sent-messages.ts";
import { Turns } from "./turns.ts";

interface AgentStart {
  readonly ports: AgentPorts;
  /** The session so far; empty in its first life. */
  readonly fold: AgentState;
  readonly spec: AgentSpec;
  /** Environment variable → key. */
  readonly keys: Readonly<Record<string, string>>;
  /** What a fork begins with. */
  readonly inherited?: Inherited | undefined;
}

type Handlers = {
  readonly [T in Exclude<WorkerRequestType, "init">]: (
    input: WorkerInput<T>,
  ) => Promise<WorkerOutput<T>> | WorkerOutput<T>;
};

/**
 * One agent session, alive. All that it is stands in its events; this object reads requests, writes events, and can be
 * thrown away at any moment.
 */
export interface Agent extends AsyncDisposable {
  readonly fold: AgentState;
  handle<T extends Exclude<WorkerRequestType, "init">>(
    type: T,
    input: WorkerInput<T>,
  ): Promise<WorkerOutput<T>>;
  /** Nothing would be lost if the worker ended now and another came back later. */
  readonly canPark: boolean;
  /** Lets go of everything without ending what it waits for: the next life goes on with it. */
  park(): Promise<void>;
}

/** What is wrong with the team, its agent or its keys is a Fault, and nothing has been written then. */
export async function openAgent(start: AgentStart): Promise<Agent> {
  const { ports, fold, spec } = start;
  const team = loadTeam(spec);
  // Refuses what the team does not know; a model that is chosen may be chosen otherwise later.
  applyOverrides(team, { model_overrides: spec.model_overrides });
  const isNew = fold.spec === undefined;
  getDefinition(team, isNew ? spec.agent : fold.agent);
  await using stack = new AsyncDisposableStack();
  const emit = createEmit(ports, fold);
  const parts = openParts(start, team, { emit, stack });
  // The first life refuses a model without its key; a later one can still be read and told what to do.
  if (isNew) {
    const model = modelOf(getDefinition(team, spec.agent), spec.model_overrides ?? {});
    parts.models.chain({ model, fallbacks: [] });
  }
  if (isNew) beginSession(start, team, parts);
  else if (fold.status.is_cut) repairCut(fold, emit);
  parts.turns.introduce();
  parts.turns.begin(isNew ? "new" : "resume");
  const owned = stack.move();
  const handlers = createHandlers(parts);
  return {
    fold,
    handle: async (type, input) => {
      using _asking = parts.turns.asking();
      // The table has for each type the handler of that type.
      const handler = handlers[type] as (given: typeof input) => Promise<never>;
      return await handler(input);
    },
    get canPark() {
      return parts.turns.canPark;
    },
    park: () => owned.disposeAsync(),
    [Symbol.asyncDispose]: async () => {
      await parts.turns.end();
      await owned.disposeAsync();
    },
  };
}

/**
 * Adds what every event has. It is written first: what the log does not take has not happened, or the session would be
 * another in its next life.
 */
function createEmit({ clock, session_id, output }: AgentPorts, fold: AgentState): Emit {
  return (body: AgentEventBody) => {
    const { turn_id } = fold;
    const event = {
      ...body,
      ...(body.turn_id === undefined && turn_id !== undefined ? { turn_id } : {}),
      at: new Date(clock.now()).toISOString(),
      session_id,
      // The spread of a union keeps each member's own fields.
    } as AgentEvent;
    output(event);
    fold.apply(event);
  };
}

interface Parts {
  readonly ports: AgentPorts;
  readonly stage: Stage;
  readonly actor: Actor;
  readonly queue: MessageQueue;
  readonly casting: Casting;
  readonly turns: Turns;
  readonly models: ReturnType<typeof openModels>;
  /** Grows with the providers that are chosen. */
  readonly keys: Record<string, string>;
}

function openParts(
  { ports, fold, spec, ...start }: AgentStart,
  team: Team,
  { emit, stack }: { readonly emit: Emit; readonly stack: AsyncDisposableStack },
): Parts {
  const { clock } = ports;
  const keys = { ...start.keys };
  const isHeadless = spec.headless ?? false;
  const models = stack.use(
    openModels({
      models: team.models,
      providers: team.providers,
      keys,
      base_dir: spec.base_dir,
      scripts: (path) => readFileSync(path, "utf8"),
      clock,
      ...defined({ fetch: ports.fetch }),
    }),
  );
  const hooksOf = createTurnHooks({ ports, team, work_dir: spec.work_dir, emit });
  const casting = stack.use(new Casting({ ports, team, spec, fold, models, emit, hooksOf }));
  const questions = new Questions({ fold, emit, clock }, isHeadless);
  const budgetLimits = strictest(team.limits, spec.limits ?? {});
  const stage: Stage = {
    ports,
    team,
    fold,
    questions,
    emit,
    permissions: new PermissionBook({ fold, emit, team: team.permissions, isHeadless }),
    budget: new Budget({ fold, clock, questions, limits: budgetLimits }),
    background: new Background(),
    inFlight: new Set(),
    cast: (name) => casting.start(name),
    perform: (actor) => runTurn(actor, stage),
    switchAgent: (to) => turns.switchAgent(to, "handoff"),
  };
  const queue = new MessageQueue(fold, emit);
  const turns = new Turns({ stage, casting, queue, spec });
  return { ports, stage, actor: turns.actor, queue, casting, turns, models, keys };
}

/** Of two limits the smaller one counts. */
function strictest(a: RunLimits, b: RunLimits): RunLimits {
  const least = (x: number | undefined, y: number | undefined) =>
    x === undefined || y === undefined ? (x ?? y) : Math.min(x, y);
  const max_cost = least(a.max_cost, b.max_cost);
  const max_tokens = least(a.max_tokens, b.max_tokens);
  const max_time_ms = least(a.max_time_ms, b.max_time_ms);
  return {
    ...defined({ max_cost, max_tokens, max_time_ms }),
  };
}

function beginSession(
  { fold, spec, inherited, ports }: AgentStart,
  team: Team,
  { stage }: Parts,
): void {
  const { emit, permissions } = stage;
  emit({
    type: "team.info",
    name: team.name,
    default_agent: team.default_agent,
    agents: team.agents.map((agent) => describeAgent(agent)),
    permissions: team.permissions,
    spec,
  });
  permissions.begin(spec.permissions, spec.safety ?? team.safety);
  for (const message of team.warnings) emit({ type: "warning", code: "team", message });
  if (inherited !== undefined) copyHistory(inherited, { fold, emit, blobs: ports.blobs });
}

function createHandlers(parts: Parts): Handlers {
  return {
    ...conversationHandlers(parts),
    ...answerHandlers(parts),
    ...choiceHandlers(parts),
    ...viewHandlers(parts),
  };
}

function conversationHandlers({ stage, turns, queue, ports, actor }: Parts) {
  const { fold } = stage;
  const isKnown = (key: string | undefined) => key !== undefined && fold.keys.has(key);
  return {
    messages: async ({ messages, idempotency_key }) => {
      if (isKnown(idempotency_key)) return duplicate(fold, idempotency_key);
      turns.checkIdle();
      const fresh = chooseFresh(messages, fold, ports.blobs);
      if (fresh.length === 0) return { status: "duplicate" };
      const turn_id = await turns.start(fresh, { origin: "message", idempotency_key });
      return { status: "started", turn_id };
    },
    steer: ({ messages, framing = "instruction", idempotency_key }) => {
      if (isKnown(idempotency_key)) return { status: "duplicate" };
      if (!turns.isRunning)
        throw new Fault(
          "nothing_running",
          "no turn is running that could be steered; send a message",
        );
      const contents = toQueued(messages, ports.blobs);
      const position = queue.add("steer", { messages: contents, framing, idempotency_key });
      return { status: "queued", position };
    },
    followup: async ({ messages, idempotency_key }) => {
      if (isKnown(idempotency_key)) return duplicate(fold, idempotency_key);
      const contents = toQueued(messages, ports.blobs);
      const isFirst = queue.count("followup") + queue.count("steer") === 0;
      const position = queue.add("followup", { messages: contents, idempotency_key });
      const turn_id = await turns.startQueued();
      if (turn_id === undefined) return { status: "queued", position };
      // Those that an interrupted turn has left come first.
      if (!isFirst) return { status: "queued", position: queue.count("followup") };
      return { status: "started", turn_id };
    },
    interrupt: async () => ({ interrupted: await turns.interrupt() }),
    summarize: async ({ instruction }) => {
      turns.checkIdle();
      return await turns.exclusively(() =>
        compact(actor, stage, { cause: "request", instruction }),
      );
    },
  } satisfies Partial<Handlers>;
}

function duplicate(fold: AgentState, key: string | undefined): WorkerOutput<"messages"> {
  const turn_id = key === undefined ? undefined : fold.keys.turnOf(key);
  return { status: "duplicate", ...defined({ turn_id }) };
}

function answerHandlers({ stage }: Parts) {
  const { questions, permissions, fold } = stage;
  return {
    resume: ({ approval_id, decision, reason, tool_name }) => {
      const tool = fold.talk.approvals.find((asked) => asked.approval_id === approval_id)?.tool;
      const approved = tool === undefined ? undefined : { tool, pattern: tool_name };
      const remember = approved === undefined ? undefined : permissions.plan(decision, approved);
      const said = reason?.trim() ?? "";
      questions.answerApproval(approval_id, { decision, ...(said === "" ? {} : { reason: said }) });
      remember?.();
      return {};
    },
    elicitation: ({ elicitation_id, action, content }) => {
      questions.answerElicitation(elicitation_id, {
        action,
        ...defined({ content }),
      });
      return {};
    },
  } satisfies Partial<Handlers>;
}

function choiceHandlers({ stage, turns, casting, models, keys }: Parts) {
  const { fold, permissions, team } = stage;
  return {
    agent: ({ name }) => {
      getDefinition(team, name);
      turns.checkIdle();
      turns.switchAgent(casting.find(name), "user");
      return {};
    },
    model: ({ agent = fold.agent, model, keys: more = {} }) => {
      getDefinition(team, agent);
      Object.assign(keys, more);
      const { [agent]: _cleared, ...others } = fold.model_overrides;
      if (model !== "") models.get(model);
      turns.introduce(model === "" ? others : { ...others, [agent]: model });
      return {};
    },
    permissions: (change) => {
      permissions.change(change);
      return {};
    },
  } satisfies Partial<Handlers>;
}

function viewHandlers(parts: Parts) {
  const { turns, casting, stage } = parts;
  const current = () => casting.start(turns.actor.cast.definition.name);
  return {
    tools: async () => ({ tools: describeTools(await current()) }),
    toolsets: () => ({ toolsets: [...turns.actor.cast.toolbox.statuses()] }),
    restart_toolset: async ({ name }) => (await current()).toolbox.restart(name),
    models: () => ({ models: describeModels(stage, turns.actor.cast.definition) }),
    prompts: async () => ({ prompts: [...(await (await current()).toolbox.prompts())] }),
    prompt: async ({ name, arguments: given = {} }) => ({
      text: await (await current()).toolbox.runPrompt(name, given),
    }),
    skills: async () => ({ skills: [...(await current()).toolbox.skills()] }),
  } satisfies Partial<Handlers>;
}
