import type { Clock } from "#base/clock.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Controller } from "#contract/session.ts";
import { InputCounters } from "#host/input-counters.ts";
import { Control, type ControlChange } from "./control.ts";
import type { HandedAudience } from "./hand-over.ts";

export type Role = "viewer" | "controller";

export interface AudienceDeps {
  readonly clock: Clock;
  readonly onControl: (change: ControlChange) => void;
  readonly onAttached: (viewer: string, role: Role) => void;
  readonly onDetached: (viewer: string) => void;
}

export interface Attaching {
  readonly takeover: boolean;
  /** The client's name for its attachment, which stays the same when the client reconnects. */
  readonly name?: string | undefined;
}

/** Who watches a session, and which of them holds control. Nothing here touches the child. */
export class Audience {
  readonly #deps: AudienceDeps;
  readonly #control: Control;
  /** Each with the name of its attachment, if it has one. */
  readonly #viewers = new Map<string, string | undefined>();
  readonly inputs = new InputCounters();

  constructor(deps: AudienceDeps) {
    this.#deps = deps;
    this.#control = new Control(deps.clock, deps.onControl);
  }

  get size(): number {
    return this.#viewers.size;
  }

  get controller(): Controller | null {
    return this.#control.controller;
  }

  /**
   * The generation, for a controller. Throws before anything has changed. Control that an earlier connection of the same
   * attachment still holds is taken from it.
   */
  attach(viewer: string, role: Role, { takeover, name }: Attaching): number | undefined {
    if (this.#viewers.size >= limits.viewers_per_session) {
      throw new Fault("too_many", "this session has as many viewers as it may", {
        details: { limit: limits.viewers_per_session },
      });
    }
    const isTaking = takeover || this.#isHeldBy(name);
    const generation =
      role === "controller" ? this.#control.take(viewer, { takeover: isTaking }) : undefined;
    this.#viewers.set(viewer, name);
    this.#deps.onAttached(viewer, role);
    return generation;
  }

  detach(viewer: string): void {
    if (!this.#viewers.delete(viewer)) return;
    const { controller } = this.#control;
    if (controller?.holder === viewer) this.#control.release(controller.generation);
    this.#deps.onDetached(viewer);
  }

  take(viewer: string, { takeover }: { readonly takeover: boolean }): number {
    return this.#control.take(viewer, { takeover });
  }

  release(generation: number): void {
    this.#control.release(generation);
  }

  renew(generation: number): boolean {
    return this.#control.renew(generation);
  }

  /** Throws `not_controller` unless whoever comes with this generation may type. */
  check(generation: number | undefined): void {
    this.#control.check(generation);
  }

  handOver(): HandedAudience {
    const named = [...this.#viewers].flatMap(([viewer, name]) =>
      name === undefined ? [] : [{ viewer, name }],
    );
    return {
      viewers: [...this.#viewers.keys()],
      named,
      inputs: this.inputs.handOver(),
      ...this.#control.handOver(),
    };
  }

  /** Without a word: nobody came and nobody went. */
  adopt(handed: HandedAudience, passedMs: number): void {
    for (const viewer of handed.viewers) this.#viewers.set(viewer, undefined);
    for (const { viewer, name } of handed.named) this.#viewers.set(viewer, name);
    this.inputs.adopt(handed.inputs);
    this.#control.adopt({ ...handed, lease_ms: Math.max(0, handed.lease_ms - passedMs) });
  }

  /** The session has ended: there is nothing left to control. */
  endControl(): void {
    this.#control.dispose();
  }

  #isHeldBy(name: string | undefined): boolean {
    const { controller } = this.#control;
    return (
      name !== undefined && controller !== null && this.#viewers.get(controller.holder) === name
    );
  }
}
