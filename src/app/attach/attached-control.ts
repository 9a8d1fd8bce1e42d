import type { Audit, AuditedAction } from "#app/audit.ts";
import type { Who } from "#app/caller.ts";
import { nameOf } from "#app/session.ts";
import { asFault, Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import type { HostAttachment, SessionHost } from "#session/session-host.ts";

export type Role = "viewer" | "controller";

interface ControlRequest {
  readonly role: Role;
  readonly takeover: boolean;
  /** The client's name for its attachment, for a host that numbers the inputs of one. */
  readonly name?: string | undefined;
}

/** An input as a client sends it: once for its id, and in the order of its number. */
export interface InputMark {
  readonly inputId?: string | undefined;
  /** At an attachment with a name. */
  readonly number?: number | undefined;
}

interface ControlDeps {
  readonly host: Pick<SessionHost, "call" | "attach">;
  readonly caller: Who;
  readonly audit: Pick<Audit, "record">;
  /** The name that others see. Absent = the caller's. */
  readonly viewer?: string | undefined;
}

/** Throws `not_controller` when control was asked for and another client has it. */
export async function openControl(
  deps: ControlDeps,
  session: Session,
  { role, takeover, name }: ControlRequest,
): Promise<AttachedControl> {
  const { session_id } = session;
  if (role === "controller") checkControllable(session);
  const viewer = deps.viewer ?? nameOf(deps.caller);
  const request = { session_id, viewer, role, takeover, name };
  const attachment = await deps.host.attach(request);
  const holder = session.controller?.holder;
  const opened = new AttachedControl(deps, session, attachment);
  opened.record("session.attached", { role });
  if (role === "controller" && takeover && holder !== undefined)
    opened.record("session.taken_over", { from: holder });
  return opened;
}

/**
 * The same, but a client that cannot have control watches. An attachment with a name is refused when another client has control:
 * it comes back as a viewer, and is not left to find out that it is one.
 */
export async function openControlOrWatch(
  deps: ControlDeps,
  session: Session,
  request: ControlRequest,
): Promise<AttachedControl> {
  const viewer = { ...request, role: "viewer", takeover: false } as const;
  const watched = ["already_exited", "unsupported"];
  if (request.name === undefined) watched.push("not_controller");
  if (request.role === "viewer") return await openControl(deps, session, viewer);
  try {
    return await openControl(deps, session, request);
  } catch (error) {
    const { code } = asFault(error);
    if (!watched.includes(code)) throw error;
    return await openControl(deps, session, viewer);
  }
}

export function checkControllable({ kind }: Session): void {
  if (kind !== "agent") return;
  throw new Fault("unsupported", "agents don't take keyboard input; send a message instead");
}

/**
 * The host's end of an attachment: a viewer, and the controller while it holds the newest generation. Calls reach the
 * host in the order in which they are made, and those behind a `take` wait for it.
 */
export class AttachedControl implements AsyncDisposable {
  readonly #deps: ControlDeps;
  readonly #session: Session;
  readonly #attachment: HostAttachment;
  #generation: number | undefined;
  /** While control is being taken. Never rejects. */
  #taking: Promise<void> | undefined;
  #wrote = { inputs: 0, bytes: 0 };
  /** How often, and the last one. */
  #resized = { times: 0, cols: 0, rows: 0 };
  #isOpen = true;

  constructor(deps: ControlDeps, session: Session, attachment: HostAttachment) {
    this.#deps = deps;
    this.#session = session;
    this.#attachment = attachment;
    this.#generation = attachment.generation;
  }

  get generation(): number | undefined {
    return this.#generation;
  }

  get role(): Role {
    return this.#generation === undefined ? "viewer" : "controller";
  }

  /** See `HostAttachment`. */
  get applied(): number | null | undefined {
    return this.#attachment.applied;
  }

  async type(bytes: Uint8Array, mark: InputMark = {}): Promise<void> {
    if (this.#taking !== undefined) await this.#taking;
    const generation = this.#hold();
    await this.#attachment.type({ bytes, ...mark, generation });
    this.#wrote = { inputs: this.#wrote.inputs + 1, bytes: this.#wrote.bytes + bytes.byteLength };
  }

  async eof(mark: InputMark = {}): Promise<void> {
    if (this.#taking !== undefined) await this.#taking;
    const generation = this.#hold();
    await this.#attachment.eof({ ...mark, generation });
  }

  async resize(cols: number, rows: number): Promise<void> {
    if (this.#taking !== undefined) await this.#taking;
    const generation = this.#hold();
    await this.#attachment.resize({ cols, rows, generation });
    this.#resized = { times: this.#resized.times + 1, cols, rows };
  }

  async signal(signal: string): Promise<void> {
    if (this.#taking !== undefined) await this.#taking;
    this.#hold();
    await this.#deps.host.call("session.signal", { session_id: this.#session.session_id, signal });
    this.record("session.signalled", { signal });
  }

  /** Takes control from its holder. */
  async take(): Promise<void> {
    if (this.#taking !== undefined) await this.#taking;
    if (this.#generation !== undefined) return;
    checkControllable(this.#session);
    await this.#take({ takeover: true });
    this.record("session.taken_over", {});
  }

  async release(): Promise<void> {
    if (this.#taking !== undefined) await this.#taking;
    this.#generation = undefined;
    await this.#attachment.release();
  }

  /** Keeps the lease of a silent client. A lease that ran out is taken again, unless another client has control now. */
  async renew(): Promise<void> {
    if (this.#generation === undefined) return;
    const isHeld = await this.#attachment.renew();
    if (isHeld || this.#generation === undefined) return;
    this.#generation = undefined;
    await this.#take({ takeover: false });
  }

  async close(reason: string | undefined): Promise<void> {
    await this.#deps.host.call("session.close", {
      session_id: this.#session.session_id,
      ...(reason === undefined ? {} : { detail: reason }),
    });
    this.record("session.closed", reason === undefined ? {} : { reason });
  }

  /** True once, when another client has taken control from us. */
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

  async #take({ takeover }: { readonly takeover: boolean }): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#taking = promise;
    try {
      this.#generation = await this.#attachment.take({ takeover });
    } finally {
      this.#taking = undefined;
      resolve();
    }
  }

  #hold(): number {
    if (this.#generation !== undefined) return this.#generation;
    throw new Fault("not_controller", "you are viewing this session; take control to type");
  }
}
