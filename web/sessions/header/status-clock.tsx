import { useEffect, useState } from "react";
import type { Session } from "#contract/session.ts";
import { useApp } from "#web/app/context.ts";
import { useStore } from "#web/live/store.ts";
import { formatElapsed, formatMoment, formatTimeOfDay } from "#web/ui/format.ts";
import css from "./session-header.module.css";
import { findMoment } from "./status-moment.ts";

const SECOND_MS = 1000;

/** Since when the status holds, by the server's own moments. It redraws itself each second, and nothing around it. */
export function StatusClock({ session }: { readonly session: Session }) {
  const { sessions } = useApp();
  const isLive = useStore(sessions.view).status === "live";
  const moment = findMoment(session);
  if (moment === undefined) return null;
  const { at, word } = moment;
  // Whether time still passes is unknown while the server cannot be reached.
  const isTicking = word === "for" && isLive;
  return (
    <time className={css.clock} dateTime={at} title={formatMoment(at)}>
      {isTicking ? (
        <>
          for <Elapsed since={Date.parse(at)} now={sessions.serverNow} />
        </>
      ) : (
        `${word === "for" ? "since" : word} ${formatTimeOfDay(at, sessions.serverNow())}`
      )}
    </time>
  );
}

interface ElapsedProps {
  readonly since: number;
  readonly now: () => number;
}

function Elapsed({ since, now }: ElapsedProps) {
  const [elapsed, setElapsed] = useState(() => now() - since);
  useEffect(() => {
    let timer: number | undefined;
    const tick = () => {
      const passed = now() - since;
      setElapsed(passed);
      // At the next full second, so that none is skipped.
      const rest = passed < 0 ? -passed : SECOND_MS - (passed % SECOND_MS);
      timer = window.setTimeout(tick, Math.min(rest, SECOND_MS) + 1);
    };
    tick();
    return () => window.clearTimeout(timer);
  }, [since, now]);
  return formatElapsed(elapsed);
}
