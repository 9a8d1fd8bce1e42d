import { useSyncExternalStore } from "react";

const NARROW = "(max-width: 899px)";

/** A page with room for one thing beside another, or not. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(listen, () => window.matchMedia(NARROW).matches);
}

function listen(onChange: () => void): () => void {
  const query = window.matchMedia(NARROW);
  query.addEventListener("change", onChange);
  return () => query.removeEventListener("change", onChange);
}
