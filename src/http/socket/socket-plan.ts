import type { WebSocket } from "ws";
import type { Gateway } from "#app/gateway.ts";
import type { OpenVisit } from "#http/open-visits.ts";
import type { OutboxDeps } from "./outbox.ts";

export interface SocketDeps {
  readonly gateway: Gateway;
  readonly outbox: OutboxDeps;
  readonly onError: (error: unknown) => void;
}

/** A socket after its handshake. */
export interface Handshaken {
  readonly socket: WebSocket;
  /** The sub-protocol that was chosen; empty without one. */
  readonly protocol: string;
  readonly visit: Pick<OpenVisit, "isValid">;
}

/** A socket that could be opened: all that can be refused was refused. Disposed when the handshake fails. */
export interface SocketPlan extends Disposable {
  /** Sub-protocols that are understood here. */
  readonly protocols: readonly string[];
  /** After the handshake: owns everything that the plan held. */
  open(handshaken: Handshaken): OpenSocket;
}

export interface OpenSocket {
  /** The gateway ends. */
  stop(reason: string, retryAfterMs: number): void;
  /** The caller may not be here any more. */
  expel(code: number, reason: string): void;
  /** At once. */
  terminate(): void;
}
