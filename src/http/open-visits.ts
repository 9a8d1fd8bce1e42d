import type { Who } from "#app/caller.ts";
import type { Gateway } from "#app/gateway.ts";
import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";

interface OpenVisitsDeps {
  readonly gateway: Pick<Gateway, "knows">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Override for tests. */
  readonly checkMs?: number | undefined;
}

export interface OpenVisit extends Disposable {
  /** Whether the token is still valid at this moment; if it is not, everything that is open for it is closed. */
  isValid(): boolean;
}

interface Visitors {
  readonly caller: Who;
  readonly expel: Set<(fault: Fault) => void>;
}

/**
 * What is open for a caller: sockets, streams, waits. Every other request looks up its token. These looked it up when
 * they were opened, so a timer looks it up again, and a socket asks before it serves a frame.
 */
export class OpenVisits implements Disposable {
  readonly #deps: OpenVisitsDeps;
  /** By cookie or token, so that a look costs one lookup each, however much is open. */
  readonly #visitors = new Map<string | undefined, Visitors>();
  #next: Disposable | undefined;

  constructor(deps: OpenVisitsDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#visitors.values().reduce((sum, { expel }) => sum + expel.size, 0);
  }

  /** Until it is disposed. `onExpelled` is called at most once. */
  enter(caller: Who, onExpelled: (fault: Fault) => void): OpenVisit {
    const key = keyOf(caller);
    const visitors = this.#visitors.get(key) ?? { caller, expel: new Set() };
    // A function of its own: two visits may be given the same one.
    const expel = (fault: Fault) => onExpelled(fault);
    visitors.expel.add(expel);
    this.#visitors.set(key, visitors);
    if (this.#next === undefined) this.#arm();
    return {
      isValid: () => {
        if (visitors.expel.has(expel)) this.#check(visitors);
        return visitors.expel.has(expel);
      },
      [Symbol.dispose]: () => {
        visitors.expel.delete(expel);
        if (visitors.expel.size === 0) this.#forget(visitors);
      },
    };
  }

  [Symbol.dispose](): void {
    this.#next?.[Symbol.dispose]();
    this.#visitors.clear();
  }

  #arm(): void {
    const { clock, checkMs = limits.revocation_check_ms } = this.#deps;
    this.#next = clock.timer(checkMs, () => {
      this.#next = undefined;
      for (const visitors of [...this.#visitors.values()]) this.#check(visitors);
      if (this.#visitors.size > 0) this.#arm();
    });
  }

  #check(visitors: Visitors): void {
    if (this.#knows(visitors.caller)) return;
    this.#forget(visitors);
    const expelled = [...visitors.expel];
    visitors.expel.clear();
    for (const expel of expelled) expel(createExpelledFault());
  }

  #forget(visitors: Visitors): void {
    const key = keyOf(visitors.caller);
    if (this.#visitors.get(key) === visitors) this.#visitors.delete(key);
  }

  /** A store that cannot be read sends nobody away: the next look will tell. */
  #knows(caller: Who): boolean {
    try {
      return this.#deps.gateway.knows(caller);
    } catch (error) {
      this.#deps.log.error("a token could not be looked up", { token_id: caller.token_id, error });
      return true;
    }
  }
}

function keyOf({ cookie_id, token_id }: Who): string | undefined {
  return cookie_id ?? token_id;
}

function createExpelledFault(): Fault {
  return new Fault("unauthenticated", "the token that this was opened with is revoked or expired");
}
