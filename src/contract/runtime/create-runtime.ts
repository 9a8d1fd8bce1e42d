import type { AgentCard, AgentSnapshot } from "#contract/agent/views.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { OperationCalls, OperationOutput, StreamItem } from "#contract/operations.ts";
import { defined } from "#contract/values/defined.ts";
import type { FollowOptions, Runtime } from "./runtime.ts";

type SessionId = OperationOutput<"agent.create">["session_id"];

/** A runtime of one session; it holds nothing but its listeners, so many may stand beside each other. */
export function createRuntime(operations: OperationCalls, sessionId: string): Runtime {
  // Ids are branded where they are made and checked where they are used.
  const session_id = sessionId as SessionId;
  const toolsChanged = new ToolsChanged((signal) =>
    operations.stream("session.events", { session_id, since: "tail" }, { signal }),
  );
  return {
    session_id,
    ...agentPart(operations, session_id),
    ...talkPart(operations, session_id),
    ...historyPart(operations, session_id),
    ...settingsPart(operations, session_id),
    onToolsChanged: (listener) => toolsChanged.on(listener),
    [Symbol.asyncDispose]: async () => toolsChanged.end(),
  };
}

function agentPart({ call }: OperationCalls, session_id: SessionId) {
  return {
    currentAgent: async () => describeCurrent(await call("agent.snapshot", { session_id })),
    setCurrentAgent: async (name) => {
      await call("agent.switch", { session_id, name });
    },
    tools: async () => (await call("agent.tools", { session_id })).tools,
    toolsets: async () => (await call("agent.toolsets", { session_id })).toolsets,
    restartToolset: (name) => call("agent.restart_toolset", { session_id, name }),
    startup: () => call("agent.team", { session_id }),
  } satisfies Partial<Runtime>;
}

function talkPart({ call, stream }: OperationCalls, session_id: SessionId) {
  return {
    run: (messages, { idempotency_key, signal } = {}) =>
      stream("agent.run", { session_id, messages: [...messages], idempotency_key }, { signal }),
    send: (messages, idempotency_key) =>
      call("agent.send", { session_id, messages: [...messages], idempotency_key }),
    events: ({ since, follow, signal }: FollowOptions = {}) =>
      // An agent's session has an agent's events among its own.
      stream("session.events", { session_id, since, follow }, { signal }) as AsyncIterable<
        StreamItem<AnyEvent>
      >,
    steer: (request) => call("agent.steer", { session_id, ...request }),
    followUp: (request) => call("agent.followup", { session_id, ...request }),
    queue: () => call("agent.queue", { session_id }),
    interrupt: async () => (await call("session.interrupt", { session_id })).signalled > 0,
    resume: async (answer) => {
      await call("agent.resume", { session_id, ...answer });
    },
    answerElicitation: async (answer) => {
      await call("agent.elicitation", { session_id, ...answer });
    },
  } satisfies Partial<Runtime>;
}

function historyPart({ call }: OperationCalls, session_id: SessionId) {
  return {
    summarize: (instruction) => call("agent.summarize", { session_id, instruction }),
    snapshot: () => call("agent.snapshot", { session_id }),
    transcript: (page = {}) => call("agent.transcript", { session_id, ...page }),
    fork: async (at) => (await call("agent.fork", { session_id, at })).session_id,
    title: async () => (await call("session.get", { session_id })).title,
    setTitle: async (title) => {
      await call("session.update", { session_id, title });
    },
  } satisfies Partial<Runtime>;
}

function settingsPart({ call }: OperationCalls, session_id: SessionId) {
  return {
    permissions: () => call("agent.permissions", { session_id }),
    setPermissions: async (change) => {
      await call("agent.permit", { session_id, ...change });
    },
    prompts: async () => (await call("agent.prompts", { session_id })).prompts,
    runPrompt: async (name, args) => {
      const filled = args === undefined ? {} : { arguments: { ...args } };
      return (await call("agent.prompt", { session_id, name, ...filled })).text;
    },
    skills: async () => (await call("agent.skills", { session_id })).skills,
    models: async () => (await call("agent.models", { session_id })).models,
    setModel: async (choice) => {
      await call("agent.model", { session_id, ...choice });
    },
  } satisfies Partial<Runtime>;
}

function describeCurrent(snapshot: AgentSnapshot): AgentCard {
  const { agent, model, context_limit, agents, welcome_message } = snapshot;
  const known = agents.find(({ name }) => name === agent);
  return {
    name: agent,
    description: known?.description ?? "",
    model,
    ...defined({ welcome_message }),
    context_limit,
    commands: known?.commands ?? {},
  };
}

type Follow = (signal: AbortSignal) => AsyncIterable<StreamItem<{ readonly type: string }>>;

/** One stream for all listeners, as long as there is one. */
class ToolsChanged {
  readonly #follow: Follow;
  readonly #listeners = new Set<{ readonly call: () => void }>();
  #ending: AbortController | undefined;

  constructor(follow: Follow) {
    this.#follow = follow;
  }

  on(call: () => void): Disposable {
    const listener = { call };
    this.#listeners.add(listener);
    if (this.#ending === undefined) {
      this.#ending = new AbortController();
      void this.#run(this.#ending);
    }
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(listener);
        if (this.#listeners.size === 0) this.end();
      },
    };
  }

  end(): void {
    this.#listeners.clear();
    this.#ending?.abort();
    this.#ending = undefined;
  }

  async #run(ending: AbortController): Promise<void> {
    try {
      for await (const { data } of this.#follow(ending.signal)) {
        if (ending.signal.aborted) return;
        // Another agent has other tools.
        if (data.type !== "tools.changed" && data.type !== "agent.switched") continue;
        for (const { call } of [...this.#listeners]) call();
      }
    } catch {
      // Aborted, or the way was cut for good: whoever asks next hears why. The next listener tries again.
    }
    if (this.#ending === ending) this.#ending = undefined;
  }
}
