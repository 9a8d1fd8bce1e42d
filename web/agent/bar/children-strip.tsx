import { isLive } from "#contract/ended.ts";
import type { Session } from "#contract/session.ts";
import { useAgent } from "#web/agent/agent-context.ts";
import { wholeIndex } from "#web/agent/talk/fold.ts";
import { formatRoute } from "#web/app/router.ts";
import { fullNameOf, rawNameOf } from "#web/sessions/session-name.ts";
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
          <Isolated text={shorten(rawNameOf(child))} reading="prose" />
        </a>
      ))}
      {running.length > SHOWN_MOST ? <span>and {running.length - SHOWN_MOST} more</span> : null}
    </nav>
  );
}

function shorten(name: string): string {
  if (name.length <= NAME_CHARS) return name;
  return `${name.slice(0, wholeIndex(name, NAME_CHARS))}…`;
}

function iconOf({ kind, mode }: Session) {
  if (kind === "agent") return "agent";
  return mode === "pty" ? "terminal" : "command";
}
