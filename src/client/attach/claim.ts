import type { Session } from "#contract/session.ts";

type Role = "viewer" | "controller";

/** Answers in a row that somebody holds control, after which it is not our own last connection that does. */
const HELD_ANSWERS = 4;

/**
 * What an attachment wants of control. A connection that was cut may hold it for another moment, in our own name: that
 * is waited out or taken back. What somebody else has taken since is not.
 */
export class Claim {
  #role: Role;
  #takeover: boolean;
  #generation: number | undefined;
  /** The newest that anybody had, as we were told. */
  #heard = 0;
  #attempts = 0;
  #held = 0;
  #hadControl = false;

  constructor({ role, takeover }: { readonly role: Role; readonly takeover: boolean }) {
    this.#role = role;
    this.#takeover = takeover;
  }

  /** This client had control, so it lost it if another client has it now. */
  get hadControl(): boolean {
    return this.#hadControl;
  }

  /** Of the control that we hold, once it is known. */
  get generation(): number | undefined {
    return this.#role === "controller" ? this.#generation : undefined;
  }

  /** For the query of the next attempt. */
  attempt(): { readonly role: Role; readonly takeover: true | undefined } {
    this.#attempts += 1;
    const isTaking = this.#role === "controller" && this.#takeover;
    return { role: this.#role, takeover: isTaking ? true : undefined };
  }

  connected(role: Role, generation: number | null): void {
    this.#held = 0;
    this.#takeover = false;
    this.#role = role;
    this.#generation = generation ?? undefined;
    if (role === "controller") this.#hadControl = true;
  }

  /** A new holder; if that takes control from us, the server says so by closing. */
  changed(holder: string | null, generation: number): void {
    if (holder === null) return;
    this.#heard = generation;
    if (this.#role === "controller") this.#generation ??= generation;
  }

  /** Called when control is asked for; what it answers, when it was got. Its generation is told before or after that. */
  asks(): () => void {
    const before = this.#heard;
    return () => {
      this.#role = "controller";
      this.#hadControl = true;
      this.#generation = this.#heard > before ? this.#heard : undefined;
    };
  }

  release(): void {
    this.#role = "viewer";
    this.#generation = undefined;
  }

  /** Why an attempt was refused, when it was for control; undefined when it may be tried again. */
  judge({ controller }: Session): "taken_over" | "refused" | undefined {
    if (this.#role === "viewer" || this.#takeover || controller === null) return undefined;
    if (controller.generation === this.#generation) {
      this.#takeover = true;
      return undefined;
    }
    this.#held += 1;
    if (this.#attempts > 1 && this.#held < HELD_ANSWERS) return undefined;
    return this.#hadControl ? "taken_over" : "refused";
  }
}
