import { type Clock, systemClock } from "#base/clock.ts";
import { type Local, viewerName } from "#cli/context.ts";
import { Fault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import type { HostAttachment, SessionHost } from "#session/session-host.ts";
import { isExpected } from "./ending.ts";
import { KeyHold } from "./key-hold.ts";
import { AHEAD_CHUNKS, type Typed } from "./keyboard.ts";
import type { Size } from "./raw-mode.ts";

export type Role = "viewer" | "controller";

export interface SeatRequest {
  readonly role: Role;
  readonly takeover: boolean;
}

/** Control if it is free or asked for by force, else a place among the viewers. */
export async function openSeat(
  { hosts }: Local,
  { session_id }: Session,
  { role, takeover }: SeatRequest,
): Promise<Seat> {
  const host = hosts.of(session_id);
  const attach = async (as: Role): Promise<Seat> => {
    const request = { session_id, viewer: viewerName(), role: as, takeover };
    return new Seat({ host, attachment: await host.attach(request), clock: systemClock });
  };
  try {
    return await attach(role);
  } catch (error) {
    if (!isOneOf(error, ["not_controller", "already_exited"])) throw error;
    return await attach("viewer");
  }
}

export interface SeatDeps {
  readonly host: Pick<SessionHost, "call">;
  readonly attachment: HostAttachment;
  readonly clock: Clock;
}

/** A place at a session. Whoever holds control types and sets the size; the others watch, and their keys go nowhere. */
export class Seat implements Typed, Disposable {
  readonly #host: SeatDeps["host"];
  readonly #attachment: HostAttachment;
  readonly #byId: { readonly session_id: Session["session_id"] };
  readonly #keys: KeyHold;
  #generation: number | undefined;
  #isTaking = false;
  #ahead: Buffer[] = [];
  /** Who typed here when we came, if it was not us. */
  readonly holder: string | undefined;
  /** Called with what nobody expected. */
  onError: (error: unknown) => void = () => undefined;

  constructor({ host, attachment, clock }: SeatDeps) {
    const { session, generation } = attachment;
    this.#host = host;
    this.#attachment = attachment;
    this.#byId = { session_id: session.session_id };
    this.#generation = generation;
    this.#keys = new KeyHold((bytes) => this.#input(bytes), clock);
    this.holder = generation === undefined ? session.controller?.holder : undefined;
  }

  type(bytes: Buffer): void {
    if (this.#generation === undefined) {
      // Typed right behind the key that takes control: it is for then.
      if (this.#isTaking && this.#ahead.length < AHEAD_CHUNKS) this.#ahead.push(bytes);
      return;
    }
    this.#keys.push(bytes);
  }

  resize(size: Size): void {
    const generation = this.#generation;
    if (generation === undefined) return;
    this.#send(this.#attachment.resize({ ...size, generation }));
  }

  /** By force; the size becomes ours. */
  take(size: () => Size): void {
    if (this.#generation !== undefined || this.#isTaking) return;
    this.#isTaking = true;
    const take = async () => {
      try {
        await this.#take({ takeover: true });
        this.resize(size());
        for (const bytes of this.#ahead) this.type(bytes);
      } finally {
        this.#isTaking = false;
        this.#ahead = [];
      }
    };
    this.#send(take());
  }

  renew(): void {
    this.#send(this.#renew());
  }

  /** A full-screen program should paint itself anew for who saw only a part. */
  repaint(): void {
    this.#keys.begin();
    this.#send(this.#host.call("session.signal", { ...this.#byId, signal: "SIGWINCH" }));
  }

  /** The program has printed: it has taken note of a signal that was sent before. */
  printed(): void {
    this.#keys.release();
  }

  [Symbol.dispose](): void {
    this.#keys[Symbol.dispose]();
  }

  /** Who has taken control from us; said once. */
  lostTo({ controller }: Session): string | undefined {
    if (this.#generation === undefined || controller === null) return undefined;
    if (controller.generation <= this.#generation) return undefined;
    this.#generation = undefined;
    return controller.holder;
  }

  #input(bytes: Buffer): void {
    const generation = this.#generation;
    if (generation === undefined) return;
    this.#send(this.#attachment.type({ bytes, generation }));
  }

  async #take({ takeover }: { readonly takeover: boolean }): Promise<void> {
    this.#generation = await this.#attachment.take({ takeover });
  }

  /** A lease that ran out while this process was stopped is taken again, unless somebody else has it now. */
  async #renew(): Promise<void> {
    const isHeld = await this.#attachment.renew();
    if (!isHeld && this.#generation !== undefined) await this.#take({ takeover: false });
  }

  #send(work: Promise<unknown>): void {
    void work.catch((error) => {
      if (!isExpected(error)) this.onError(error);
    });
  }
}

function isOneOf(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Fault && codes.includes(error.code);
}
