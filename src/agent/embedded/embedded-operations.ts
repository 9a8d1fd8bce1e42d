import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { describeSpec } from "#agent/team/agent-spec.ts";
import { applyOverrides, describeTeam } from "#agent/team/describe-team.ts";
import { loadTeam, type TeamText } from "#agent/team/load-team.ts";
import { checkPromptFiles } from "#agent/team/prompt-files.ts";
import { randomId } from "#base/random-id.ts";
import type { AgentSpec, TeamSource } from "#contract/agent/spec.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { agentRequests } from "#contract/operations/agent-requests.ts";
import type { WorkerOperationName } from "#contract/operations/worker-requests.ts";
import type { OperationInput, Operations, StreamItem } from "#contract/operations.ts";
import {
  type EmbeddedPorts,
  type EmbeddedSession,
  openEmbeddedSession,
} from "./embedded-session.ts";

export interface EmbeddedOptions {
  readonly ports: EmbeddedPorts;
  readonly work_dir: string;
  /** Environment variable → key. */
  readonly keys: Readonly<Record<string, string>>;
}

interface EmbeddedAgents extends AsyncDisposable {
  readonly operations: Partial<Operations>;
}

/** Agents in this very process: no host, no server, no file but those that their tools write. */
export function openEmbeddedAgents(options: EmbeddedOptions): EmbeddedAgents {
  const sessions = new Map<string, EmbeddedSession>();
  const parts = { options, sessions };
  return {
    operations: {
      ...lifeCalls(parts),
      ...workerCalls(parts),
      ...viewCalls(parts),
      ...createStreams(parts),
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...sessions.values()].map((session) => session[Symbol.asyncDispose]()));
      sessions.clear();
    },
  };
}

type AgentCreate = OperationInput<"agent.create">;

interface Parts {
  readonly options: EmbeddedOptions;
  readonly sessions: Map<string, EmbeddedSession>;
}

function getSession({ sessions }: Parts, sessionId: string): EmbeddedSession {
  const session = sessions.get(sessionId);
  if (session !== undefined) return session;
  throw new Fault("session_not_found", `there is no session ${sessionId}`, {
    details: { session_id: sessionId },
  });
}

function lifeCalls(parts: Parts) {
  const { options, sessions } = parts;
  const open = async (start: { spec: AgentSpec; title: string; from?: EmbeddedSession }) => {
    const session_id = randomId("ses");
    const { spec, title, from } = start;
    const items = from?.agent.fold.conversation.items.slice(0, spec.forked_from?.at);
    const inherited = from && items && { items, blobs: from.blobs };
    const { ports, keys } = options;
    const session = await openEmbeddedSession({ ports, keys, session_id, spec, title, inherited });
    sessions.set(session_id, session);
    return { session_id: session.view().session_id };
  };
  return {
    "team.load": async ({ source, model_overrides, prompt_files, working_dir }) => {
      const team = loadTeam(readSource(source, options));
      if (working_dir !== undefined) await checkNamedFiles(options, working_dir, prompt_files);
      return describeTeam(applyOverrides(team, { model_overrides, prompt_files }));
    },
    "agent.create": async (input) => {
      if (input.resume_session_id !== undefined)
        return { session_id: getSession(parts, input.resume_session_id).view().session_id };
      const text = readSource(sourceOf(input), options);
      await checkNamedFiles(options, input.working_dir, input.prompt_files);
      const title = input.title ?? text.name.slice(0, limits.title_chars);
      const work_dir = resolve(options.work_dir, input.working_dir ?? ".");
      return await open({
        spec: describeSpec(input, loadTeam(text), { ...text, work_dir }),
        title,
      });
    },
    "agent.fork": async ({ session_id, at }) => {
      const from = getSession(parts, session_id);
      const { fold } = from.agent;
      const total = fold.conversation.items.length;
      if (at > total)
        throw new Fault("invalid_request", `at: the session has ${total} messages, not ${at}`);
      if (fold.spec === undefined) throw new Error("a session that was opened has its spec");
      const { agent, model_overrides } = fold;
      const { session: permissions, safety } = fold.talk.permissions;
      const now = { permissions, safety, agent, model_overrides };
      const spec = { ...fold.spec, ...now, forked_from: { session_id, at } };
      return await open({ spec, title: `${from.title} (fork)`, from });
    },
    "session.get": async ({ session_id }) => getSession(parts, session_id).view(),
    "session.update": async ({ session_id, title }) => {
      const session = getSession(parts, session_id);
      if (title !== undefined) session.title = title;
      return session.view();
    },
    "session.interrupt": async ({ session_id }) => {
      const { interrupted } = await getSession(parts, session_id).agent.handle("interrupt", {});
      return { signalled: interrupted ? 1 : 0 };
    },
  } satisfies Partial<Operations>;
}

function workerCalls(parts: Parts): Pick<Operations, WorkerOperationName> {
  const calls = Object.entries(agentRequests).map(([name, { worker }]) => [
    name,
    async ({ session_id, ...input }: { readonly session_id: string }) =>
      // The row's input without the session's id is what its worker takes.
      getSession(parts, session_id).agent.handle(worker, input as never),
  ]);
  // One for each row.
  return Object.fromEntries(calls) as Pick<Operations, WorkerOperationName>;
}

function viewCalls(parts: Parts) {
  const foldOf = (session_id: string) => getSession(parts, session_id).agent.fold;
  return {
    "agent.snapshot": async ({ session_id }) => {
      const { title, work_dir, events_tail } = getSession(parts, session_id).view();
      return foldOf(session_id).snapshot({ title, work_dir, events_tail });
    },
    "agent.transcript": async ({ session_id, ...page }) => {
      const { title } = getSession(parts, session_id);
      return foldOf(session_id).transcript({ title, ...page });
    },
    "agent.queue": async ({ session_id }) => foldOf(session_id).queue(),
    "agent.permissions": async ({ session_id }) => foldOf(session_id).talk.permissions,
    "agent.team": async ({ session_id }) => {
      const { spec, model_overrides } = foldOf(session_id);
      if (spec === undefined) throw new Error("a session that was opened has its spec");
      return describeTeam(loadTeam(spec), { ...spec.model_overrides, ...model_overrides });
    },
  } satisfies Partial<Operations>;
}

function createStreams(parts: Parts) {
  return {
    "session.events": async ({ session_id, since = 0, follow = true }, { signal } = {}) => {
      const { events } = getSession(parts, session_id);
      const from = since === "tail" ? events.tail : since;
      events.check(from);
      return events.read({ since: from, follow, signal });
    },
    "agent.run": async ({ session_id, ...input }, { signal } = {}) => {
      const { agent, events } = getSession(parts, session_id);
      const since = events.tail;
      const { status, turn_id } = await agent.handle("messages", input);
      if (turn_id === undefined)
        throw new Fault("conflict", "these messages were sent before, and their turn is not known");
      const isOver = status === "duplicate" && agent.fold.turn_id !== turn_id;
      return untilEnd(events.read({ since, follow: !isOver, signal }), turn_id);
    },
  } satisfies Partial<Operations>;
}

async function* untilEnd<
  T extends { readonly type: string; readonly turn_id?: string | undefined },
>(
  items: AsyncIterable<StreamItem<T>>,
  turnId: string | undefined,
): AsyncGenerator<StreamItem<T>, void, void> {
  for await (const item of items) {
    yield item;
    if (item.data.type === "turn.ended" && item.data.turn_id === turnId) return;
  }
}

function sourceOf({ source }: AgentCreate): TeamSource {
  if (source !== undefined) return source;
  throw new Fault("invalid_request", "source: say which team");
}

function readSource(source: TeamSource, { work_dir }: EmbeddedOptions): TeamText {
  if (source.kind === "inline")
    return { yaml: source.yaml, name: source.name ?? "inline.yaml", base_dir: work_dir };
  if (source.kind === "name")
    throw new Fault(
      "unsupported",
      "an embedded agent knows no teams by name; give a path or the text",
    );
  const path = resolve(work_dir, source.path);
  try {
    return { yaml: readFileSync(path, "utf8"), name: path, base_dir: dirname(path) };
  } catch (error) {
    throw new Fault("team_not_found", `${path} cannot be read`, { cause: error });
  }
}

async function checkNamedFiles(
  { work_dir, ports }: EmbeddedOptions,
  working_dir = ".",
  names: readonly string[] = [],
): Promise<void> {
  await checkPromptFiles(names, { work_dir: resolve(work_dir, working_dir), home: ports.home });
}
