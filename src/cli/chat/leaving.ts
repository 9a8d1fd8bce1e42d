/** Why the view is left. */
export type Ending =
  | { readonly kind: "detached" | "host_gone" }
  | { readonly kind: "ended"; readonly reason: string }
  | { readonly kind: "signalled"; readonly signal: NodeJS.Signals }
  | { readonly kind: "failed"; readonly error: unknown };

export interface Leaving extends Disposable {
  /** The first reason stays. */
  readonly leave: (ending: Ending) => void;
  readonly left: Promise<Ending>;
  readonly signal: AbortSignal;
}

const SIGNALS = ["SIGHUP", "SIGTERM", "SIGINT", "SIGQUIT"] as const;

/**
 * The window was closed, we are asked to end, or somebody leaves: the session goes on without us. The terminal is put back
 * by Ink, also when the process ends by a mistake.
 */
export function openLeaving(): Leaving {
  const abort = new AbortController();
  const { promise, resolve } = Promise.withResolvers<Ending>();
  const leave = (ending: Ending) => {
    resolve(ending);
    abort.abort();
  };
  const onSignal = (signal: NodeJS.Signals) => leave({ kind: "signalled", signal });
  const onGone = () => leave({ kind: "signalled", signal: "SIGHUP" });
  for (const signal of SIGNALS) process.on(signal, onSignal);
  process.stdin.on("end", onGone);
  // Stays: a terminal that has gone may say so more than once.
  process.stdin.on("error", onGone);
  return {
    leave,
    left: promise,
    signal: abort.signal,
    [Symbol.dispose]: () => {
      abort.abort();
      for (const signal of SIGNALS) process.off(signal, onSignal);
      process.stdin.off("end", onGone);
    },
  };
}
