/** What decides how long an ended session is kept. */
export interface Ended {
  readonly session_id: string;
  readonly ended_at: number;
  readonly bytes: number;
}

export interface RetentionLimits {
  readonly kept_ms: number;
  readonly kept_count: number;
  readonly kept_bytes: number;
}

/** Which ended sessions have to go: those that are too old, and the oldest of too many or too large ones. */
export function chooseExpired(
  ended: readonly Ended[],
  now: number,
  keep: RetentionLimits,
): string[] {
  const newestFirst = ended.toSorted((a, b) => b.ended_at - a.ended_at);
  const expired: string[] = [];
  let count = 0;
  let bytes = 0;
  for (const session of newestFirst) {
    count += 1;
    bytes += session.bytes;
    if (
      now - session.ended_at > keep.kept_ms ||
      count > keep.kept_count ||
      bytes > keep.kept_bytes
    ) {
      expired.push(session.session_id);
    }
  }
  return expired;
}
