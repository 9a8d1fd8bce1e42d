import type { Session } from "#contract/session.ts";
import type { RemovalReason } from "#contract/session-state.ts";
import type {
  HostCreate,
  HostFeature,
  HostHealth,
  HostMethod,
  HostMethods,
} from "#host/socket/methods.ts";
import type { LogFiles } from "#log/log-files.ts";
import type { ResizeTrack } from "./resize-track.ts";

/**
 * The way to a session. Every request names its owner: the host of a session (`of`), the host for a new one (`place`),
 * or all of them.
 *
 *     SessionHosts ── of(id) ──► SessionHost ── open(id) ──► SessionHandle   (state, tails, logs)
 *                                    └───────── attach() ──► HostAttachment  (input, control)
 *
 * All three connect when the first request needs it.
 */
export interface SessionHosts {
  /** The host that has this session. Connects to nothing: the first request does. */
  of(sessionId: string): SessionHost;
  /** The host that a new session belongs on. */
  place(spec: Pick<HostCreate, "work_dir">): SessionHost;
  /** Every host, for requests about more than one session. */
  all(): readonly [SessionHost, ...SessionHost[]];
}

/** Methods whose answer means something on one connection only: `open`, `attach` and `watchAll` send them. */
type ConnectionMethod =
  | "connection.bind"
  | "session.attach"
  | "session.detach"
  | "session.take"
  | "session.release"
  | "session.renew"
  | "session.watch"
  | "session.unwatch"
  | "sessions.watch";

export type HostCall = Exclude<HostMethod, ConnectionMethod>;

/** A process that keeps sessions, here or elsewhere. */
export interface SessionHost {
  /** `idle`: nothing has needed it yet. `unreachable`: the connection is lost and may be opened again. */
  readonly state: "idle" | "open" | "unreachable";
  /** How many sessions have an open handle in this process. */
  readonly followed: number;
  /** Starts the host if none runs. */
  connect(): Promise<void>;
  /** Throws `host_unavailable` when no host answers. */
  call<M extends HostCall>(
    method: M,
    params: HostMethods[M]["params"],
  ): Promise<HostMethods[M]["result"]>;
  /** Whether it can do what this word of its `hello` names. Connects. */
  knows(feature: HostFeature): Promise<boolean>;
  /** Undefined when no host runs. Starts none. */
  health(): Promise<HostHealth | undefined>;
  /** Throws `session_not_found`. The caller disposes the handle. */
  open(sessionId: string): Promise<SessionHandle>;
  /** The session of a handle that is open in this process. */
  find(sessionId: string): Session | undefined;
  /** Throws `not_controller` when another client has control and no takeover was asked for. */
  attach(request: AttachRequest): Promise<HostAttachment>;
  /** Reports every session of the host, now and after each reconnect. Does not connect by itself. */
  watchAll(listener: HostListener): Disposable;
}

export interface HostListener {
  /** Whether a lost connection has to be opened again for this listener. */
  isNeeded(): boolean;
  /** A connection was opened. `changed` is called from now on; list the sessions for those that are there. */
  connected(): void;
  /** A session was created or changed, or removed (null). */
  changed(sessionId: string, session: Session | null, reason: RemovalReason | undefined): void;
}

/** Readers of a session's logs. */
export type LogReader = LogFiles;

/** The newest that the host has published of a session. */
export interface SessionView {
  readonly session: Session;
  /** The end of the output that may be read. */
  readonly tail: number;
  /** The end of the events that may be read. */
  readonly eventsTail: number;
}

/**
 * One session as this process sees it: its newest state, and its logs to read. All handles of a session share one watch
 * and one set of open files. A reader is a cursor of its own.
 */
export interface SessionHandle extends SessionView, Disposable {
  /**
   * `unreachable`: the connection to the host is lost and is being opened again; the handle then continues by itself, and its
   * readers at their cursors. `closed`: the session was removed, the handle disposed, or its host will not come back.
   */
  readonly state: "open" | "unreachable" | "closed";
  /** The last output, if it came with the news of it; the log holds it as well. */
  readonly recent: Recent | undefined;
  readonly output: LogReader;
  readonly events: LogReader;
  readonly sizes: ResizeTrack;
  /** Where its files are on the machine of its host, for a process there that draws its screen. */
  readonly folder: string;
  /** Resolves at the next change, when the handle closes, or when the signal aborts. */
  changed(options?: Waiting): Promise<void>;
  /** Resolves when `check` holds, when the handle closes, or when the signal aborts. */
  until(check: (view: SessionView) => boolean, options?: Waiting): Promise<void>;
  /** Calls the listener at each change. */
  on(listener: () => void): Disposable;
}

export interface Waiting {
  readonly signal?: AbortSignal;
}

export interface Recent {
  readonly offset: number;
  readonly channel: number;
  readonly bytes: Buffer;
}

export interface AttachRequest {
  readonly session_id: string;
  /** How others see who holds control. */
  readonly viewer: string;
  readonly role: "viewer" | "controller";
  readonly takeover: boolean;
  /**
   * The client's name for its attachment, the same after each reconnect: its inputs are numbered, and control that an
   * earlier connection of it still holds is taken back. Only for a host that knows `numbered`.
   */
  readonly name?: string | undefined;
}

/** An input, a size or a signal of a controller. The host refuses a generation that is not the newest. */
interface Controlled {
  readonly generation: number;
}

interface Input extends Controlled {
  /** Applied once, among the last `limits.input_ids_remembered` of the session. */
  readonly inputId?: string | undefined;
  /**
   * At a named attachment: the first input is 1. A number that was applied is acknowledged and not applied again. Throws
   * `input_out_of_order` when an input is missing before it.
   */
  readonly number?: number | undefined;
}

/**
 * A viewer or controller at the host. It belongs to the connection that it was made on and ends with it: afterwards each
 * request throws `host_unavailable`. Requests arrive in the order in which they are made.
 */
export interface HostAttachment {
  readonly session: Session;
  /** Undefined for a viewer. */
  readonly generation: number | undefined;
  /** With a name: the number of the last applied input. Null for a name that the host does not know. */
  readonly applied: number | null | undefined;
  type(input: Input & { readonly bytes: Uint8Array }): Promise<void>;
  eof(input: Input): Promise<void>;
  resize(size: Controlled & { readonly cols: number; readonly rows: number }): Promise<void>;
  /** Gives the generation of the new controller. */
  take(options: { readonly takeover: boolean }): Promise<number>;
  release(): Promise<void>;
  /** Extends the lease. False when it has ended. */
  renew(): Promise<boolean>;
  detach(): Promise<void>;
}
