import { useEffect, useState } from "react";
import { useApp } from "#web/app/context.ts";
import { sayFault } from "#web/live/page-client.ts";
import { loadRecording, type Recording } from "./load-recording.ts";

type Loading =
  | { readonly kind: "loading"; readonly bytes: number }
  | { readonly kind: "failed"; readonly sentence: string }
  | { readonly kind: "loaded"; readonly recording: Recording };

const PROGRESS_BYTES = 256 * 1024;

/** Fetches it, and once more for each `again`. */
export function useRecording(sessionId: string): {
  readonly loading: Loading;
  readonly again: () => void;
} {
  const { client } = useApp();
  const [loading, setLoading] = useState<Loading>({ kind: "loading", bytes: 0 });
  const [round, setRound] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another round is the same question again.
  useEffect(() => {
    const ending = new AbortController();
    const { signal } = ending;
    let said = 0;
    const onProgress = (bytes: number) => {
      if (bytes - said < PROGRESS_BYTES || signal.aborted) return;
      said = bytes;
      setLoading({ kind: "loading", bytes });
    };
    setLoading({ kind: "loading", bytes: 0 });
    loadRecording(client, sessionId, { signal, onProgress }).then(
      (recording) => {
        if (!signal.aborted) setLoading({ kind: "loaded", recording });
      },
      (error: unknown) => {
        if (!signal.aborted) setLoading({ kind: "failed", sentence: sayFault(error) });
      },
    );
    return () => ending.abort();
  }, [client, sessionId, round]);
  return { loading, again: () => setRound((count) => count + 1) };
}
