import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import type { AgentEvent } from "#contract/agent/events.ts";
import type { MemoryStore } from "#contract/agent/memory.ts";
import type { Tools } from "#contract/tools/tools.ts";

/** What an agent needs of the world. The process that it lives in fills this in. */
export interface AgentPorts {
  readonly session_id: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  /** Writes an event behind all the others; what was written counts as having happened. */
  readonly output: (event: AgentEvent) => void;
  /** Commands and terminals, as children of this session. */
  readonly tools: Tools;
  /** What a team remembers across its sessions. */
  readonly openMemory: (team: string) => MemoryStore;
  readonly blobs: Blobs;
  readonly home: string;
  /** What children start from; no key is in it. */
  readonly env: Readonly<Record<string, string>>;
  /** Gives the session a title. */
  readonly rename: (title: string) => Promise<void>;
  /** For tests and embedding; absent = the network. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** Files beside a session's logs, for what is too large for a line. */
export interface Blobs {
  /** The name that it can be read by. */
  put(data_b64: string): string;
  /** Undefined when it is gone. */
  get(name: string): string | undefined | Promise<string | undefined>;
}

/** Blobs of this process or this machine. */
export interface LocalBlobs extends Blobs {
  get(name: string): string | undefined;
}
