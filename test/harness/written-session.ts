import { join } from "node:path";
import { ManualClock } from "#base/manual-clock.ts";
import {
  describeStatus,
  emptyAgentStatus,
  reduceAgentStatus,
} from "#contract/agent/agent-status.ts";
import { channels, type OutputChannel } from "#contract/channels.ts";
import { Fault } from "#contract/fault.ts";
import { Session } from "#contract/session.ts";
import type { SessionState } from "#contract/session-state.ts";
import { StatusLines } from "#host/session/status-lines.ts";
import type { HostClient } from "#host/socket/client.ts";
import { Watch } from "#host/socket/watch.ts";
import { openLogWriter } from "#log/log-writer.ts";
import { createLocalHosts } from "#session/local-host.ts";
import type { SessionHosts } from "#session/session-host.ts";
import { openTempDir } from "./temp-dir.ts";

export const WRITTEN_SESSION = "ses_0123456789abcdef";

export interface WrittenSession extends Disposable {
  readonly hosts: SessionHosts;
  readonly clock: ManualClock;
  readonly tail: number;
  /** The session's directory, with its logs. */
  readonly dir: string;
  /** The requests to the host, in order. */
  readonly asked: string[];
  /** The ids that it was asked for. */
  readonly sought: readonly string[];
  /** Of output; those who watch hear of it. */
  print(bytes: string | Uint8Array, channel?: OutputChannel): void;
  lose(count: number): void;
  resize(cols: number, rows: number): void;
  /** One line of the events log. */
  note(event: Readonly<Record<string, unknown>>): void;
  /** Into the events log as it is. */
  write(text: string): void;
  enter(state: SessionState): void;
  /** The host goes. */
  leave(): void;
}

/** A session that the test itself writes: real logs and real handles, the host's part played by hand. */
export function openWrittenSession(
  overrides: Partial<Session> = {},
  log: { readonly segmentBytes?: number; readonly retainBytes?: number } = {},
): WrittenSession {
  using stack = new DisposableStack();
  const folder = stack.use(openTempDir()).path;
  const clock = new ManualClock();
  const dir = join(folder, WRITTEN_SESSION);
  const output = stack.use(openLogWriter({ dir: join(dir, "output"), clock, ...log }));
  const events = stack.use(openLogWriter({ dir: join(dir, "events"), clock }));
  let session = Session.parse({ ...describe(clock), ...overrides });
  const lines = new StatusLines();
  let status = emptyAgentStatus;
  const watches = new Set<Watch>();
  const watch = () => {
    const opened: Watch = new Watch(
      { ...session, tail: output.tail, events_tail: events.tail },
      () => void watches.delete(opened),
    );
    watches.add(opened);
    return opened;
  };
  const asked: string[] = [];
  const sought: string[] = [];
  // All that handles ask of a host.
  const client = {
    closed: Promise.withResolvers().promise,
    watch: async () => {
      asked.push("watch");
      return watch();
    },
    call: async (name: string, { session_id }: Pick<Session, "session_id">) => {
      asked.push(name);
      const newest = { ...session, tail: output.tail, events_tail: events.tail };
      if (name === "session.list") return { sessions: [newest], cursor: null };
      sought.push(session_id);
      if (session_id === session.session_id) return session;
      throw new Fault("session_not_found", "there is no such session");
    },
  } as unknown as HostClient;
  const moved = () => {
    for (const each of watches)
      each.onTail({ watch: 0, tail: output.tail, events_tail: events.tail });
  };
  const owned = stack.move();
  return {
    hosts: createLocalHosts(client, folder),
    clock,
    asked,
    sought,
    dir,
    get tail() {
      return output.tail;
    },
    print(bytes, channel = "stdout") {
      output.append(channels[channel], Buffer.from(bytes));
      moved();
    },
    lose(count) {
      output.skip(count);
      moved();
    },
    resize: (cols, rows) => void output.mark("resize", cols, rows),
    note(event) {
      this.write(`${JSON.stringify(event)}\n`);
    },
    write(text) {
      const bytes = Buffer.from(text);
      events.append(channels.events, bytes);
      moved();
      if (session.kind !== "agent") return;
      lines.push(bytes, (event) => {
        status = reduceAgentStatus(status, event);
      });
      this.enter(session.state);
    },
    enter(state) {
      const described = session.kind === "agent" ? describeStatus(state, status) : {};
      const tails = { tail: output.tail, events_tail: events.tail };
      session = { ...session, ...described, ...tails, state };
      for (const each of watches) each.onSession(session);
    },
    leave() {
      for (const each of watches) each.onClosed();
      // It tells nothing more, whatever the files get.
      watches.clear();
    },
    [Symbol.dispose]: () => owned.dispose(),
  };
}

export function exitedState(tail: number, { final }: { readonly final: boolean }): SessionState {
  return { kind: "exited", exit_code: 0, signal: null, reason: "exited", tail, final };
}

function describe(clock: ManualClock): Readonly<Record<string, unknown>> {
  const at = new Date(clock.now()).toISOString();
  const nobody = { task_id: null, issue_id: null, user_id: null, parent_session_id: null };
  return {
    ...nobody,
    session_id: WRITTEN_SESSION,
    kind: "terminal",
    mode: "pty",
    state: { kind: "running" },
    title: "",
    name: null,
    ...{ status: "running", needs: [], last_line: "", turn: null, usage: null },
    ...{ host_id: null, unreachable_since: null },
    workspace_id: "wsp_local",
    work_dir: "/",
    shell: null,
    argv: ["sh"],
    pid: 1,
    cols: 80,
    rows: 24,
    tail: 0,
    first_offset: 0,
    events_tail: 0,
    controller: null,
    viewers: 0,
    created_at: at,
    last_io_at: at,
    exited_at: null,
  };
}
