import type { Session } from "#contract/session.ts";
import { Badge } from "#web/ui/badge.tsx";
import { type Activity, describeState } from "./state-words.ts";

interface StateBadgeProps {
  readonly session: Session;
  readonly isAsking?: boolean;
  /** Of an agent, where it is known. */
  readonly activity?: Activity | undefined;
}

/** How it is, in a word or two; never by colour alone. */
export function StateBadge({ session, isAsking = false, activity }: StateBadgeProps) {
  const { tone, text } = describeState(session, { isAsking, activity });
  return <Badge tone={tone}>{text}</Badge>;
}
