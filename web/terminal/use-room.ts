import { useEffect, useState } from "react";
import type { Session } from "#contract/session.ts";
import { mayDo, useApp } from "#web/app/context.ts";
import { TerminalRoom } from "./terminal-room.ts";

interface OpenRoom {
  /** Undefined until there is something to draw on. */
  readonly room: TerminalRoom | undefined;
  readonly stageRef: (stage: HTMLElement | null) => void;
  /** From the beginning. */
  readonly again: () => void;
}

/** A room as long as the view is shown. It follows the session by itself: what the list says later is not needed. */
export function useRoom(session: Session): OpenRoom {
  const { client, identity, toasts } = useApp();
  const [stage, stageRef] = useState<HTMLElement | null>(null);
  const [room, setRoom] = useState<TerminalRoom | undefined>(undefined);
  const [attempt, setAttempt] = useState(0);
  const [first] = useState(session);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt is the same thing again.
  useEffect(() => {
    if (stage === null) return undefined;
    const opened = new TerminalRoom({
      client,
      session: first,
      mayControl: mayDo(identity, "operator"),
      stage,
      onRefusal: (sentence) => toasts.add("bad", sentence),
    });
    setRoom(opened);
    return () => {
      setRoom(undefined);
      opened[Symbol.dispose]();
    };
  }, [client, identity, toasts, stage, first, attempt]);
  return { room, stageRef, again: () => setAttempt((count) => count + 1) };
}
