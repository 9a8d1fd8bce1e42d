/** Time as a dependency: wall time for people, monotonic time for deadlines. */
export interface Clock {
  /** Wall time in ms since 1970; may jump. */
  now(): number;
  /** Milliseconds that only grow. */
  monotonic(): number;
  /** Runs once after `ms`, however long that is; disposing cancels. Keeps no process alive by itself. */
  timer(ms: number, run: () => void): Disposable;
}

/** Beyond this, `setTimeout` fires after 1 ms. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer: (ms, run) => openTimer(ms, run),
};

function openTimer(ms: number, run: () => void): Disposable {
  const due = performance.now() + ms;
  let handle: NodeJS.Timeout | undefined;
  const arm = () => {
    const left = Math.max(0, due - performance.now());
    // A timer may fire a fraction of a millisecond early, and a long one is chained.
    handle = setTimeout(
      () => (due - performance.now() > 0 ? arm() : run()),
      Math.min(Math.ceil(left), LONGEST_TIMEOUT_MS),
    );
    handle.unref();
  };
  arm();
  return { [Symbol.dispose]: () => clearTimeout(handle) };
}
