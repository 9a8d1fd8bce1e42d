import type { Clock } from "#base/clock.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { BoundedMap } from "#contract/values/bounded-map.ts";

/** Addresses that are remembered at most; beyond it the oldest window is forgotten. */
const ADDRESSES = 10_000;

interface Window {
  readonly until: number;
  failures: number;
}

/**
 * Wrong tokens of an address, in windows of time: beyond the limit the answer is to wait. A right token is let in all
 * the same, or anybody on this machine or behind the same address could lock the others out.
 */
export class FailedLogins {
  readonly #clock: Clock;
  readonly #windows = new BoundedMap<string, Window>(ADDRESSES);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts one more; the fault to answer it with. */
  add(address: string, fault: Fault): Fault {
    const window = this.#find(address) ?? this.#open(address);
    window.failures += 1;
    if (window.failures <= limits.auth_failures) return fault;
    const wait = Math.ceil((window.until - this.#clock.monotonic()) / 1000);
    return new Fault(
      "too_many",
      `too many wrong tokens from this address; try again in ${wait} s`,
      {
        details: { retry_after_s: wait },
      },
    );
  }

  #open(address: string): Window {
    const until = this.#clock.monotonic() + limits.auth_failures_window_ms;
    const window = { until, failures: 0 };
    this.#windows.set(address, window);
    return window;
  }

  #find(address: string): Window | undefined {
    const window = this.#windows.get(address);
    if (window === undefined || window.until > this.#clock.monotonic()) return window;
    this.#windows.delete(address);
    return undefined;
  }
}
