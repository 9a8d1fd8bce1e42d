import type { ReactNode } from "react";
import type { Session } from "#contract/session.ts";
import { revealHidden } from "#contract/text/hidden-characters.ts";
import { navigate } from "#web/app/router.ts";
import { fullNameOf, iconOf, kindWord } from "#web/sessions/session-name.ts";
import { SessionName } from "#web/sessions/session-name-view.tsx";
import { StateBadge } from "#web/sessions/state-badge.tsx";
import { IconButton } from "#web/ui/button.tsx";
import { Icon } from "#web/ui/icons.tsx";
import { Isolated } from "#web/ui/revealed.tsx";
import css from "./session-header.module.css";
import { SessionMenu } from "./session-menu.tsx";
import { StatusClock } from "./status-clock.tsx";

interface SessionHeaderProps {
  readonly session: Session;
  /** What only this kind of view has. */
  readonly children?: ReactNode;
}

/** Above every view of one session. */
export function SessionHeader({ session, children }: SessionHeaderProps) {
  return (
    <header className={css.header}>
      <IconButton
        className={css.back ?? ""}
        icon="back"
        label="All sessions"
        onClick={() => navigate({ name: "sessions" })}
      />
      <span className={css.icon} title={kindWord(session)}>
        <Icon name={iconOf(session)} />
      </span>
      <div className={css.names}>
        <h1 title={fullNameOf(session)}>
          <SessionName session={session} />
        </h1>
        <p title={revealHidden(session.work_dir, "decision")}>
          <Isolated text={session.work_dir} reading="decision" />
        </p>
      </div>
      <div className={css.status}>
        <StateBadge session={session} /> <StatusClock session={session} />
      </div>
      <div className={css.actions}>
        {children}
        <SessionMenu session={session} />
      </div>
    </header>
  );
}
