import { isLive } from "#contract/ended.ts";
import { useAgent } from "#web/agent/agent-context.ts";
import { shorten } from "#web/agent/talk/fold.ts";
import { formatRoute } from "#web/app/router.ts";
import { fullNameOf, iconOf, rawNameOf } from "#web/sessions/session-name.ts";
import { Icon } from "#web/ui/icons.tsx";
import { Isolated } from "#web/ui/revealed.tsx";
import css from "./bar.module.css";

const SHOWN_MOST = 12;
const NAME_CHARS = 60;

/** What the agent has running right now, each one click away. */
export function ChildrenStrip() {
  const { children } = useAgent();
  const running = children.filter(isLive);
  if (running.length === 0) return null;
  return (
    <nav className={css.strip} aria-label="Running processes of the agent">
      <span>Running</span>
      {running.slice(0, SHOWN_MOST).map((child) => (
        <a
          key={child.session_id}
          href={formatRoute({ name: "session", sessionId: child.session_id })}
          title={fullNameOf(child)}
        >
          <Icon name={iconOf(child)} size={14} />
          <Isolated text={shorten(rawNameOf(child), NAME_CHARS)} reading="prose" />
        </a>
      ))}
      {running.length > SHOWN_MOST ? <span>and {running.length - SHOWN_MOST} more</span> : null}
    </nav>
  );
}
