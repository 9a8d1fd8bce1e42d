import { useCallback, useEffect, useState } from "react";
import type { CallOptions } from "#client/client.ts";

export interface Called<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly again: () => void;
}

/** Asks whenever `ask` changes (make it by useCallback), and gives up what nobody waits for any more. */
export function useCall<T>(ask: (options: CallOptions) => Promise<T>): Called<T> {
  const [state, setState] = useState<Omit<Called<T>, "again">>(nothingYet);
  const [round, setRound] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another round is the same question again.
  useEffect(() => {
    const ending = new AbortController();
    setState((before) => ({ ...before, isBusy: true }));
    ask({ signal: ending.signal }).then(
      (value) => {
        if (!ending.signal.aborted) setState({ value, error: undefined, isBusy: false });
      },
      (error: unknown) => {
        if (!ending.signal.aborted) setState((before) => ({ ...before, error, isBusy: false }));
      },
    );
    return () => ending.abort();
  }, [ask, round]);
  const again = useCallback(() => setRound((count) => count + 1), []);
  return { ...state, again };
}

const nothingYet = { value: undefined, error: undefined, isBusy: true };
