import type { Caller } from "#app/caller.ts";
import type { Gateway } from "#app/gateway.ts";
import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";

export interface OpenVisitsDeps {
  readonly gateway: Pick<Gateway, "knows">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Override for tests. */
  readonly checkMs?: number | undefined;
}

interface OpenVisit {
  readonly caller: Caller;
  readonly expel: (fault: Fault) => void;
}

/**
 * What is open for a caller: sockets, streams, waits. Everything else asks for the token each time it is used; these
 * were let in once, so whoever came by a token that is revoked or expired meanwhile is sent away here.
 */
export class OpenVisits implements Disposable {
  readonly #deps: OpenVisitsDeps;
  readonly #visits = new Set<OpenVisit>();
  #next: Disposable | undefined;

  constructor(deps: OpenVisitsDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#visits.size;
  }

  /** Until it is disposed. `expel` is called at most once. */
  enter(caller: Caller, expel: OpenVisit["expel"]): Disposable {
    const visit = { caller, expel };
    this.#visits.add(visit);
    if (this.#next === undefined) this.#arm();
    return { [Symbol.dispose]: () => void this.#visits.delete(visit) };
  }

  [Symbol.dispose](): void {
    this.#next?.[Symbol.dispose]();
    this.#visits.clear();
  }

  #arm(): void {
    const { clock, checkMs = limits.revocation_check_ms } = this.#deps;
    this.#next = clock.timer(checkMs, () => {
      this.#next = undefined;
      this.#check();
      if (this.#visits.size > 0) this.#arm();
    });
  }

  /** Each token and each cookie is looked up once, however much is open for it. */
  #check(): void {
    const byToken = Map.groupBy(this.#visits, ({ caller }) => caller.cookie_id ?? caller.token_id);
    for (const visits of byToken.values()) {
      const [first] = visits;
      if (first === undefined || this.#knows(first.caller)) continue;
      for (const visit of visits) {
        this.#visits.delete(visit);
        visit.expel(createExpelledFault());
      }
    }
  }

  /** A store that cannot be read sends nobody away: the next look will tell. */
  #knows(caller: Caller): boolean {
    try {
      return this.#deps.gateway.knows(caller);
    } catch (error) {
      this.#deps.log.error("a token could not be looked up", { token_id: caller.token_id, error });
      return true;
    }
  }
}

function createExpelledFault(): Fault {
  return new Fault("unauthenticated", "the token that this was opened with is revoked or expired");
}
