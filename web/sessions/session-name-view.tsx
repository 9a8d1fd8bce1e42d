import type { Session } from "#contract/session.ts";
import { Isolated } from "#web/ui/revealed.tsx";
import { rawNameOf, rawSubtitleOf } from "./session-name.ts";
import css from "./session-name-view.module.css";

/** A session by its name, with its title or command beside it; one without a name by its title or command. */
export function SessionName({ session }: { readonly session: Session }) {
  const subtitle = rawSubtitleOf(session);
  return (
    <>
      <Isolated text={rawNameOf(session)} reading="prose" />
      {subtitle === "" ? null : (
        <span className={css.subtitle}>
          {" "}
          <Isolated text={subtitle} reading="prose" />
        </span>
      )}
    </>
  );
}
