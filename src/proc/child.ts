import type { Survivor } from "#contract/session-state.ts";
import type { ProcessIdentity } from "./identity.ts";

/**
 * The port to running programs: a child on a PTY or on pipes, whatever the platform.
 *
 * Order that a listener sees, exactly once each: `output`*, `exited`, `output`* (what a grandchild that still
 * holds the descriptors prints), `final`. `exited` comes when the child is reaped and its descriptors had
 * nothing more; it waits for no timer and for no grandchild. After `dispose` nothing is heard; the child goes on
 * without its descriptors, can still be ended, and is reaped all the same.
 */
export type Channel = "stdout" | "stderr";

export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

export interface ChildSpec {
  /** Marks the child and what it starts, together with `REINS_SESSION_ID` in `env`. */
  readonly session_id: string;
  readonly argv: readonly string[];
  readonly work_dir: string;
  /** Exactly this, and `PWD` as the work dir. */
  readonly env: Readonly<Record<string, string>>;
  readonly umask?: number | undefined;
  /** The soft limit of open files that it starts with. */
  readonly open_files?: number | undefined;
  /** Probably over in a moment: its tree is then known by its marks alone, because a cgroup takes longer to join. */
  readonly brief?: boolean | undefined;
  /** A PTY of this size; without it the child gets pipes. */
  readonly size?: TerminalSize | undefined;
  /** Pipes only: whether stdin is a pipe that can be written to, else /dev/null. */
  readonly stdin: boolean;
  /** From `reserveMark`; without it the spawner chooses one. */
  readonly limit_mark?: number | undefined;
  /** Pipes only: stderr is the pipe of stdout, so that all stands in the order of its writes; all of it is stdout. */
  readonly merged?: boolean | undefined;
}

export interface ExitStatus {
  /** The code, or 128+n when a signal ended it. */
  readonly exit_code: number;
  readonly signal: string | null;
}

export interface ChildListener {
  /** `bytes` is only valid during the call. */
  output(channel: Channel, bytes: Buffer): void;
  exited(status: ExitStatus): void;
  final(): void;
}

export interface Child extends Disposable {
  readonly pid: number;
  readonly identity: ProcessIdentity;
  /** An inherited mark by which descendants are found that cleared their environment; undefined where there is none. */
  readonly limit_mark: number | undefined;
  readonly queuedInputBytes: number;
  /** Queues the bytes whole or throws `queue_full`; never blocks. */
  write(bytes: Uint8Array): void;
  /** After what is queued: closes stdin, or sends the end-of-file character to a terminal, which goes on taking input. */
  endInput(): void;
  resize(size: TerminalSize): void;
  /** Stops reading until `resume`; its pipe fills and it waits. At its exit what is there is read all the same, `final` waits. */
  pause(): void;
  resume(): void;
  /** To the terminal's foreground group, or the child's own group; returns how many groups got it. */
  signalForeground(signal: NodeJS.Signals): number;
  /** To every process of the tree; returns how many got it. */
  signalTree(signal: NodeJS.Signals): number;
  /** How many processes of the tree live, the child included. */
  countTree(): number;
  /** HUP and CONT to the tree, grace, then KILL; answers what could not be ended. Also after the child's own exit. */
  endTree(options: { readonly grace_ms: number }): Promise<readonly Survivor[]>;
  /** How to go on with it in another program; changes nothing. Undefined where the platform cannot. */
  handOver(): HandedChild | undefined;
}

/** Our ends of a child's descriptors, by their numbers, which stay when another program takes this process over. */
export interface HandedWiring {
  readonly terminal: boolean;
  /** Those that somebody may still print to. */
  readonly outputs: readonly { readonly channel: Channel; readonly fd: number }[];
  /** The terminal's other end, held until the exit. */
  readonly slave: number | null;
  /** Pipes only. */
  readonly stdin: number | null;
  /** Input that was taken and not written yet. */
  readonly input_b64: string;
  /** The end of the input comes behind it. */
  readonly input_ending: boolean;
}

/** What the next program in this process needs to go on with a child. */
export interface HandedChild {
  readonly identity: ProcessIdentity;
  readonly limit_mark: number | null;
  readonly state: "running" | "exited" | "final";
  readonly has_cgroup: boolean;
  /** Null when nobody holds its outputs any more. */
  readonly wiring: HandedWiring | null;
}

/** A session of a host that died, as its record tells. */
export interface Leftover {
  readonly session_id: string;
  /** Undefined when the host died before it had written down which process it started. */
  readonly identity: ProcessIdentity | undefined;
  readonly limit_mark: number | undefined;
  /** The boot that the mark is of, where the identity does not say. */
  readonly boot_id?: string | undefined;
}

/** A mark means something only until the next boot. */
export interface ReservedMark {
  readonly limit_mark: number;
  readonly boot_id: string;
}

export interface Spawner {
  /** The mark of a child that is about to be spawned, to be written down first; undefined where there are no marks. */
  reserveMark?(): ReservedMark | undefined;
  /** Throws `spawn_failed`, or `overloaded` for want of a resource, with the errno in the details; or `unsupported_os`. */
  spawn(spec: ChildSpec, listener: ChildListener): Promise<Child> | Child;
  /** Ends what is still running of sessions whose host died; answers what could not be ended. */
  endLeftovers(leftovers: readonly Leftover[]): Promise<readonly Survivor[]>;
  /** Goes on with a child of the program that was in this process before; throws where the platform cannot. */
  adopt(sessionId: string, handed: HandedChild, listener: ChildListener): Child;
}
