/** What a check found out. `info` is worth knowing and nothing to repair. */
export interface Finding {
  /** Stable, for programs. */
  readonly name: string;
  readonly status: "ok" | "info" | "failed";
  readonly sentence: string;
  /** What to do about it; null when there is nothing to do. */
  readonly advice: string | null;
}

export function fine(name: string, sentence: string): Finding {
  return { name, status: "ok", sentence, advice: null };
}

export function note(name: string, sentence: string, advice: string | null = null): Finding {
  return { name, status: "info", sentence, advice };
}

/** Whoever names a failure says what to do about it. */
export function failed(name: string, sentence: string, advice: string): Finding {
  return { name, status: "failed", sentence, advice };
}
