import type { Caller } from "#app/caller.ts";
import { openVisible } from "#app/visible-session.ts";
import type { Operations } from "#contract/operations.ts";
import type { Screens } from "#screen/screens.ts";
import type { SessionHosts } from "#session/session-host.ts";

interface ScreenDeps {
  readonly hosts: SessionHosts;
  readonly screens: Screens;
}

export function createScreenOperations(
  { hosts, screens }: ScreenDeps,
  caller: Caller,
): Pick<Operations, "session.screen"> {
  return {
    "session.screen": async ({ session_id, format, at }) => {
      using handle = await openVisible(hosts, caller, session_id);
      return format === "state" ? await screens.state(handle, at) : await screens.text(handle, at);
    },
  };
}
