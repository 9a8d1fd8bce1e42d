import { Fault } from "#contract/fault.ts";

export interface Leaving extends Disposable {
  /** Aborted when it is time to end. */
  readonly signal: AbortSignal;
  readonly by: NodeJS.Signals | undefined;
  leave(): void;
}

/** A signal asks us to end in order, instead of ending us. */
export function openLeaving(): Leaving {
  const ending = new AbortController();
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  let by: NodeJS.Signals | undefined;
  const leave = () => ending.abort(new Fault("shutting_down", "this connection is being closed"));
  const onSignal = (name: NodeJS.Signals) => {
    by ??= name;
    leave();
  };
  for (const name of names) process.on(name, onSignal);
  return {
    signal: ending.signal,
    get by() {
      return by;
    },
    leave,
    [Symbol.dispose]: () => {
      for (const name of names) process.off(name, onSignal);
    },
  };
}
