import { useEffect, useState } from "react";
import { limits } from "#contract/limits.ts";
import { useApp } from "#web/app/context.ts";

const ACTIVITY_MS = 5000;
const nothing: ReadonlyMap<string, string> = new Map();

/** When each running session last said something: events do not tell of output, so whoever sorts by it asks. */
export function useActivity(isWanted: boolean): ReadonlyMap<string, string> {
  const { client } = useApp();
  const [activity, setActivity] = useState(nothing);
  useEffect(() => {
    if (!isWanted) return;
    const ending = new AbortController();
    const { signal } = ending;
    const read = async () => {
      if (document.visibilityState !== "visible") return;
      try {
        const page = { state: "live", limit: limits.list_most } as const;
        const { sessions } = await client.call("session.list", page, { signal });
        setActivity(new Map(sessions.map((session) => [session.session_id, session.last_io_at])));
      } catch {
        // The order stays as it was; that the server is away is said elsewhere.
      }
    };
    void read();
    const timer = window.setInterval(() => void read(), ACTIVITY_MS);
    return () => {
      ending.abort();
      window.clearInterval(timer);
    };
  }, [client, isWanted]);
  return isWanted ? activity : nothing;
}
