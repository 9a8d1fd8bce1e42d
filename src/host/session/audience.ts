import type { Clock } from "#base/clock.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Controller } from "#contract/session.ts";
import { Control, type ControlChange } from "./control.ts";
import type { HandedAudience } from "./hand-over.ts";

export type Role = "viewer" | "controller";

export interface AudienceDeps {
  readonly clock: Clock;
  readonly onControl: (change: ControlChange) => void;
  readonly onAttached: (viewer: string, role: Role) => void;
  readonly onDetached: (viewer: string) => void;
}

/** Who watches a session, and which of them holds control. Nothing here touches the child. */
export class Audience {
  readonly #deps: AudienceDeps;
  readonly #control: Control;
  readonly #viewers = new Set<string>();

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

  /** The generation, for a controller. Throws before anything has changed. */
  attach(
    viewer: string,
    role: Role,
    { takeover }: { readonly takeover: boolean },
  ): number | undefined {
    if (this.#viewers.size >= limits.viewers_per_session) {
      throw new Fault("too_many", "this session has as many viewers as it may", {
        details: { limit: limits.viewers_per_session },
      });
    }
    const generation = role === "controller" ? this.#control.take(viewer, { takeover }) : undefined;
    this.#viewers.add(viewer);
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
    return { viewers: [...this.#viewers], ...this.#control.handOver() };
  }

  /** Without a word: nobody came and nobody went. */
  adopt(handed: HandedAudience, passedMs: number): void {
    for (const viewer of handed.viewers) this.#viewers.add(viewer);
    this.#control.adopt({ ...handed, lease_ms: Math.max(0, handed.lease_ms - passedMs) });
  }

  /** The session has ended: there is nothing left to control. */
  endControl(): void {
    this.#control.dispose();
  }
}
