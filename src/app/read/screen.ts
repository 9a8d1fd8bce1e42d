import type { Caller } from "#app/caller.ts";
import { openVisibleFeed } from "#app/visible-session.ts";
import type { Operations } from "#contract/operations.ts";
import type { Screens } from "#screen/screens.ts";
import type { SessionFeeds } from "#session/session-feeds.ts";

export interface ScreenDeps {
  readonly feeds: SessionFeeds;
  readonly screens: Screens;
}

export function createScreenOperations(
  { feeds, screens }: ScreenDeps,
  caller: Caller,
): Pick<Operations, "session.screen"> {
  return {
    "session.screen": async ({ session_id, format, at }) => {
      using feed = await openVisibleFeed(feeds, caller, session_id);
      return format === "state" ? await screens.state(feed, at) : await screens.text(feed, at);
    },
  };
}
