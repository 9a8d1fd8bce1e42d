import { createHash } from "node:crypto";
import type { AgentPorts, LocalBlobs } from "#agent/ports.ts";
import { AgentState } from "#agent/state/agent-state.ts";
import type { Inherited } from "#agent/turn/repair.ts";
import { type Agent, openAgent } from "#agent/worker/agent.ts";
import {
  type DescribedStatus,
  describeStatus,
  emptyAgentStatus,
  reduceAgentStatus,
} from "#contract/agent/agent-status.ts";
import type { AgentSpec } from "#contract/agent/spec.ts";
import { LOCAL_WORKSPACE, SessionId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import { EventMemory } from "./event-memory.ts";

export type EmbeddedPorts = Omit<AgentPorts, "session_id" | "output" | "blobs" | "rename">;

interface EmbeddedStart {
  readonly ports: EmbeddedPorts;
  readonly session_id: string;
  readonly spec: AgentSpec;
  readonly keys: Readonly<Record<string, string>>;
  readonly title: string;
  readonly inherited?: Inherited | undefined;
}

/** An agent session in this process. It lives as long as the process does. */
export interface EmbeddedSession extends AsyncDisposable {
  readonly agent: Agent;
  readonly events: EventMemory;
  readonly blobs: LocalBlobs;
  title: string;
  view(): Session;
}

export async function openEmbeddedSession(start: EmbeddedStart): Promise<EmbeddedSession> {
  const { ports, spec, keys, inherited } = start;
  const session_id = SessionId.parse(start.session_id);
  const events = new EventMemory();
  const blobs = createMemoryBlobs();
  const created_at = new Date(ports.clock.now()).toISOString();
  let { title } = start;
  let status = emptyAgentStatus;
  const agent = await openAgent({
    ports: {
      ...ports,
      session_id,
      output: (event) => {
        events.append(event);
        status = reduceAgentStatus(status, event);
      },
      blobs,
      rename: async (name) => {
        title = name.slice(0, limits.title_chars);
      },
    },
    fold: new AgentState(session_id),
    spec,
    keys,
    inherited,
  });
  const session = {
    agent,
    events,
    blobs,
    get title() {
      return title;
    },
    set title(name: string) {
      title = name;
    },
    view: () => ({
      ...describe({ session_id, title, created_at, work_dir: spec.work_dir }, events),
      ...describeStatus({ kind: "running" }, status),
    }),
    [Symbol.asyncDispose]: async () => {
      await agent[Symbol.asyncDispose]();
      events.close();
    },
  };
  return session;
}

function describe(
  own: Pick<Session, "session_id" | "title" | "created_at" | "work_dir">,
  { tail }: EventMemory,
): Omit<Session, keyof DescribedStatus> {
  return {
    ...own,
    ...{ name: null, host_id: null, unreachable_since: null },
    kind: "agent",
    mode: "pipe",
    state: { kind: "running" },
    workspace_id: LOCAL_WORKSPACE,
    ...{ task_id: null, issue_id: null, user_id: null, parent_session_id: null, shell: null },
    argv: [],
    pid: process.pid,
    ...{ cols: null, rows: null, tail: 0, first_offset: 0 },
    events_tail: tail,
    ...{ controller: null, viewers: 0 },
    last_io_at: own.created_at,
    exited_at: null,
  };
}

/** Images of a session that has no folder. */
function createMemoryBlobs(): LocalBlobs {
  const blobs = new Map<string, string>();
  return {
    put: (data_b64) => {
      const name = createHash("sha256").update(data_b64, "base64").digest("hex");
      blobs.set(name, data_b64);
      return name;
    },
    get: (name) => blobs.get(name),
  };
}
