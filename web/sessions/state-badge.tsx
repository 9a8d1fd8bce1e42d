import type { Session } from "#contract/session.ts";
import { Badge } from "#web/ui/badge.tsx";
import { describeState } from "./state-words.ts";

/** The status in a word or two; never by color alone. */
export function StateBadge({ session }: { readonly session: Session }) {
  const { tone, text } = describeState(session);
  return <Badge tone={tone}>{text}</Badge>;
}
