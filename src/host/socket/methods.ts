import type { Session } from "#contract/session.ts";
import type { RemovalReason } from "#contract/session-state.ts";

/**
 * The host's protocol, which only ever grows: a newer client reaches an older host. Types alone, so that the cli's
 * fast path loads no schema; the server checks every request against `requests.ts`.
 */
export const PROTOCOL = 1;
export const features = [
  "sessions",
  "watch",
  "attach",
  "labels",
  "any_label",
  "inline",
  "typing",
  "session_labels",
  "lives",
  "upgrade",
  "bound",
  "read",
  "status",
  "numbered",
] as const;
export type HostFeature = (typeof features)[number];

export interface Hello {
  readonly type: "hello";
  readonly protocol: number;
  readonly features: readonly string[];
  readonly pid: number;
  readonly version: string;
}

export interface HostHealth {
  readonly pid: number;
  readonly version: string;
  readonly uptime_ms: number;
  readonly sessions: number;
  readonly live: number;
  readonly live_cap: number;
  readonly connections: number;
  readonly descriptors: number | null;
  readonly memory_bytes: number;
  readonly free_disk_bytes: number | null;
  /** Whether the kernel lets only root read the host's memory and environment; absent in older hosts. */
  readonly memory_guarded?: boolean;
  /** Errors that nobody expected since the start; each ended one session at most. */
  readonly errors: number;
  readonly last_error: string | null;
  /** Sessions whose record cannot be read. */
  readonly unreadable: readonly string[];
  /** Sessions whose log cannot be written now. */
  readonly log_faults: number;
}

export interface HostUpgrade {
  readonly pid: number;
  readonly version: string;
  readonly from_version: string;
  /** Sessions that live and went on. */
  readonly live: number;
}

export interface HostCreate {
  readonly kind: Session["kind"];
  readonly command?: string | undefined;
  readonly argv?: readonly string[] | undefined;
  readonly shell?: string | undefined;
  readonly work_dir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly umask?: number | undefined;
  readonly open_files?: number | undefined;
  readonly brief?: boolean | undefined;
  readonly cols?: number | undefined;
  readonly rows?: number | undefined;
  /** Feature `status`, like every field that a session got with it. */
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly stdin?: boolean | undefined;
  /** Of a command: stdout and stderr are one pipe and one channel. */
  readonly merged?: boolean | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly parent_session_id?: string | undefined;
  readonly detach?: boolean | undefined;
  readonly idle_timeout_ms?: number | undefined;
  readonly lifetime_ms?: number | undefined;
  readonly grace_ms?: number | undefined;
}

/** Another life of an agent that has ended; all that is not said is as it was. */
export interface HostRevive {
  readonly session_id: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly umask?: number | undefined;
  readonly open_files?: number | undefined;
  readonly work_dir?: string | undefined;
}

export interface HostList {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly state?: "live" | "starting" | "running" | "exited" | "lost" | undefined;
  readonly kind?: Session["kind"] | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** One label that must have one of these values. */
  readonly any_label?: { readonly name: string; readonly values: readonly string[] } | undefined;
  readonly parent_session_id?: string | undefined;
  readonly q?: string | undefined;
}

type Nothing = Readonly<Record<string, never>>;
interface BySession {
  readonly session_id: string;
}

/** A range of a log: bytes of one channel, a range that cannot be read any more, or nothing yet. */
export type HostRead =
  | {
      readonly kind: "bytes";
      readonly offset: number;
      readonly channel: number;
      readonly at_ms: number;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: "gap"; readonly from: number; readonly to: number }
  | { readonly kind: "end" };

/** Method name → what it takes and what it answers. */
export interface HostMethods {
  /** Feature `bound`. The first request of a connection, if at all: without `session_id` it is the user's. */
  "connection.bind": {
    params: { readonly session_id?: string | undefined; readonly secret: string };
    result: Nothing;
  };
  "host.health": { params: Nothing; result: HostHealth };
  "host.shutdown": { params: Nothing; result: Nothing };
  /** Feature `upgrade`. Answered by the program that has taken over, or with a fault when all is as it was. */
  "host.upgrade": {
    /** How to run `reins`: program and leading arguments, by absolute paths. */
    params: { readonly command: readonly string[] };
    result: HostUpgrade;
  };
  "session.create": { params: HostCreate; result: Session };
  /** Feature `lives`; an older host answers `unsupported`. */
  "session.revive": { params: HostRevive; result: Session };
  "session.list": {
    params: HostList;
    result: {
      readonly sessions: readonly Session[];
      readonly cursor: string | null;
      /** How many match, on all pages; an older host does not say. */
      readonly total?: number;
    };
  };
  "session.get": { params: BySession; result: Session };
  "session.labels": {
    params: BySession;
    result: { readonly labels: Readonly<Record<string, string>> };
  };
  "session.rename": {
    params: BySession & {
      readonly title?: string | undefined;
      readonly name?: string | null | undefined;
    };
    result: Session;
  };
  "session.close": {
    params:
      | (BySession & { readonly detail?: string | undefined; readonly purge?: boolean | undefined })
      | undefined;
    result: Session;
  };
  "session.input": {
    params: BySession & {
      readonly data_b64?: string | undefined;
      readonly input_id?: string | undefined;
      readonly generation?: number | undefined;
      readonly eof?: boolean | undefined;
    };
    result: Nothing;
  };
  "session.resize": {
    params: BySession & {
      readonly cols: number;
      readonly rows: number;
      readonly generation?: number | undefined;
    };
    result: Nothing;
  };
  "session.signal": {
    params:
      | (BySession & {
          readonly signal: string;
          readonly scope?: "foreground" | "tree" | undefined;
        })
      | undefined;
    result: { readonly signalled: number };
  };
  /** Feature `read`. Reads a log at an offset, at most `host_read_bytes`. */
  "session.read": {
    params: BySession & {
      readonly log: "output" | "events";
      readonly offset: number;
      readonly limit: number;
    };
    result: HostRead;
  };
  /** Feature `read`. A file beside the logs, by its name; no bytes when it is gone. */
  "session.blob": {
    params: BySession & { readonly name: string };
    result: { readonly bytes?: Uint8Array | undefined };
  };
  /** Feature `read`. Keeps a file beside the logs and gives its name. */
  "session.keep_blob": {
    params: BySession & { readonly data_b64: string };
    result: { readonly name: string };
  };
  "session.tree": { params: BySession; result: { readonly processes: number } };
  "session.attach": {
    params: BySession & {
      readonly viewer: string;
      readonly role: "viewer" | "controller";
      readonly takeover?: boolean | undefined;
      /** Feature `numbered`. The client's name for the attachment, whose inputs are then numbered. */
      readonly name?: string | undefined;
    };
    result: {
      readonly attachment: number;
      /** With a name: the number of the last applied input. Null for a name that is not known. */
      readonly applied?: number | null | undefined;
      readonly generation: number | null;
      readonly session: Session;
    };
  };
  "session.detach": { params: { readonly attachment: number }; result: Nothing };
  "session.take": {
    params: { readonly attachment: number; readonly takeover?: boolean | undefined } | undefined;
    result: { readonly generation: number };
  };
  "session.release": { params: { readonly attachment: number }; result: Nothing };
  /** Keeps the lease of an attachment that has nothing to say. */
  "session.renew": { params: { readonly attachment: number }; result: { readonly held: boolean } };
  "session.watch": {
    /** `inline`: a few bytes that were printed come with the news of them. */
    params: BySession & { readonly inline?: boolean | undefined };
    result: { readonly watch: number; readonly session: Session };
  };
  "session.unwatch": { params: { readonly watch: number }; result: Nothing };
  "sessions.watch": { params: Nothing; result: Nothing };
}

export type HostMethod = keyof HostMethods;

/**
 * What the host says unasked: a watched session changed (`session`), or one of all of them did (`list`). Its
 * watchers hear of a removal as well, by `list` with null.
 */
export type HostPush =
  | { readonly push: "session"; readonly watch: number; readonly session: Session }
  | {
      readonly push: "list";
      readonly session_id: string;
      readonly session: Session | null;
      /** Why it was removed; an older host does not say. */
      readonly reason?: RemovalReason | undefined;
    };
