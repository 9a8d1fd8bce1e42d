import type { Clock } from "#base/clock.ts";

interface IdleExitDeps {
  readonly clock: Clock;
  readonly ms: number;
  readonly expired: () => void;
}

/** Ends a host that for so long has had nothing running and nobody asking. */
export class IdleExit implements Disposable {
  readonly #deps: IdleExitDeps;
  #live = 0;
  #connections = 0;
  #timer: Disposable | undefined;

  constructor(deps: IdleExitDeps) {
    this.#deps = deps;
    this.update({});
  }

  update(change: { readonly live?: number; readonly connections?: number }): void {
    this.#live = change.live ?? this.#live;
    this.#connections = change.connections ?? this.#connections;
    const isIdle = this.#live === 0 && this.#connections === 0;
    if (isIdle) {
      this.#timer ??= this.#deps.clock.timer(this.#deps.ms, this.#deps.expired);
      return;
    }
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }
}
