import type { Audit, AuditedAction } from "#app/audit.ts";
import type { Caller } from "#app/caller.ts";
import { nameOf } from "#app/session.ts";
import { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import type { HostAttachment, SessionHost } from "#session/session-host.ts";

export interface SeatRequest {
  readonly role: "viewer" | "controller";
  readonly takeover: boolean;
}

export interface SeatDeps {
  readonly host: SessionHost;
  readonly caller: Caller;
  readonly audit: Audit;
}

/** Takes a place at a session. Throws `not_controller` when control was asked for and somebody else has it. */
export async function openSeat(
  { host, caller, audit }: SeatDeps,
  session: Session,
  { role, takeover }: SeatRequest,
): Promise<Seat> {
  const { session_id } = session;
  if (role === "controller") checkControllable(session);
  const viewer = nameOf(caller);
  const request = { session_id, viewer, role, takeover };
  const attachment = await host.attach(request);
  const holder = session.controller?.holder;
  const seat = new Seat({ host, caller, audit }, session, attachment);
  seat.record("session.attached", { role });
  if (role === "controller" && takeover && holder !== undefined)
    seat.record("session.taken_over", { from: holder });
  return seat;
}

/** What is typed into an agent are requests, and those are sent by the operations of agents. */
export function checkControllable({ kind, session_id }: Session): void {
  if (kind !== "agent") return;
  throw new Fault("unsupported", "nobody types into an agent; send it messages instead", {
    details: { session_id },
  });
}

/**
 * A client's place at a session: a viewer, and the controller while it holds the newest generation. Calls reach the
 * host in the order in which they are made, and none waits for the child.
 */
export class Seat implements AsyncDisposable {
  readonly #deps: SeatDeps;
  readonly #session: Session;
  readonly #attachment: HostAttachment;
  #generation: number | undefined;
  #wrote = { inputs: 0, bytes: 0 };
  /** How often, and the last one. */
  #resized = { times: 0, cols: 0, rows: 0 };
  #isOpen = true;

  constructor(deps: SeatDeps, session: Session, attachment: HostAttachment) {
    this.#deps = deps;
    this.#session = session;
    this.#attachment = attachment;
    this.#generation = attachment.generation;
  }

  get generation(): number | undefined {
    return this.#generation;
  }

  get role(): "viewer" | "controller" {
    return this.#generation === undefined ? "viewer" : "controller";
  }

  async type(bytes: Uint8Array, inputId: string | undefined): Promise<void> {
    const generation = this.#hold();
    await this.#attachment.type({ bytes, inputId, generation });
    this.#wrote = { inputs: this.#wrote.inputs + 1, bytes: this.#wrote.bytes + bytes.byteLength };
  }

  async eof(inputId: string | undefined): Promise<void> {
    const generation = this.#hold();
    await this.#attachment.eof({ inputId, generation });
  }

  async resize(cols: number, rows: number): Promise<void> {
    const generation = this.#hold();
    await this.#attachment.resize({ cols, rows, generation });
    this.#resized = { times: this.#resized.times + 1, cols, rows };
  }

  async signal(signal: string): Promise<void> {
    this.#hold();
    await this.#deps.host.call("session.signal", { session_id: this.#session.session_id, signal });
    this.record("session.signalled", { signal });
  }

  /** Whoever asks a second time has decided: it is taken from its holder. */
  async take(): Promise<number> {
    if (this.#generation !== undefined) return this.#generation;
    checkControllable(this.#session);
    this.#generation = await this.#attachment.take({ takeover: true });
    this.record("session.taken_over", {});
    return this.#generation;
  }

  async release(): Promise<void> {
    this.#generation = undefined;
    await this.#attachment.release();
  }

  /** Keeps the lease of a client that is there and has nothing to say. */
  async renew(): Promise<void> {
    if (this.#generation === undefined) return;
    if (!(await this.#attachment.renew())) this.#generation = undefined;
  }

  async close(reason: string | undefined): Promise<void> {
    await this.#deps.host.call("session.close", {
      session_id: this.#session.session_id,
      ...(reason === undefined ? {} : { detail: reason }),
    });
    this.record("session.closed", reason === undefined ? {} : { reason });
  }

  /** True once, when somebody else has taken control from us. */
  isTaken({ controller }: Session): boolean {
    const isTaken =
      this.#generation !== undefined &&
      controller !== null &&
      controller.generation > this.#generation;
    if (isTaken) this.#generation = undefined;
    return isTaken;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#wrote.inputs > 0) this.record("session.wrote", this.#wrote);
    if (this.#resized.times > 0) this.record("session.resized", this.#resized);
    this.record("session.detached", {});
    await this.#attachment.detach().catch(() => {
      // The host has gone, and with it everything that was held there.
    });
  }

  record(action: AuditedAction["action"], details: NonNullable<AuditedAction["details"]>): void {
    const { workspace_id, session_id } = this.#session;
    const { caller, audit } = this.#deps;
    audit.record({ action, caller, workspace_id, target_id: session_id, details });
  }

  #hold(): number {
    if (this.#generation !== undefined) return this.#generation;
    throw new Fault("not_controller", "you watch this session; take control to type into it");
  }
}
