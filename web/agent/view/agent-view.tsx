import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { activityOf } from "#contract/agent/agent-status.ts";
import type { Session } from "#contract/session.ts";
import {
  AgentContext,
  type AgentPlace,
  useAgent,
  useShown,
  useTalk,
} from "#web/agent/agent-context.ts";
import { AgentSession } from "#web/agent/agent-session.ts";
import { Pinned } from "#web/agent/ask/pinned.tsx";
import { AgentBar } from "#web/agent/bar/agent-bar.tsx";
import { ChildrenStrip } from "#web/agent/bar/children-strip.tsx";
import { Composer, Mute } from "#web/agent/compose/composer.tsx";
import { lifeOf } from "#web/agent/life.ts";
import { sayRefusal } from "#web/agent/use-action.ts";
import { type Command, useCommands } from "#web/app/commands.ts";
import { mayDo, useApp } from "#web/app/context.ts";
import { useStore } from "#web/live/store.ts";
import { SessionHeader } from "#web/sessions/header/session-header.tsx";
import { moveFocus, offerFocus } from "#web/ui/focus.ts";
import { Empty, Loading, Notice } from "#web/ui/notice.tsx";
import css from "./agent-view.module.css";
import { TalkPane } from "./talk-pane.tsx";

/** An agent's session: what is said and done in it, and a place to speak. */
export function AgentView({ session }: { readonly session: Session }) {
  const { client, identity, sessions } = useApp();
  const { session_id } = session;
  const [agent, setAgent] = useState<AgentSession>();
  useEffect(() => {
    const ending = new AbortController();
    const opened = new AgentSession({ client, sessionId: session_id });
    setAgent(opened);
    void opened.follow(ending.signal);
    return () => ending.abort();
  }, [client, session_id]);
  const all = useStore(sessions.view).sessions;
  const children = useSameList(
    useMemo(
      () => [...all.values()].filter((other) => other.parent_session_id === session_id),
      [all, session_id],
    ),
  );
  const mayAct = mayDo(identity, "operator");
  const place = useMemo<AgentPlace | undefined>(
    () => (agent === undefined ? undefined : { agent, session, children, mayAct }),
    [agent, session, children, mayAct],
  );
  return (
    <div className={css.view}>
      <SessionHeader session={session} />
      {place === undefined ? (
        <Loading what="Reading the conversation" />
      ) : (
        <AgentContext value={place}>
          <Body />
        </AgentContext>
      )}
    </div>
  );
}

/** The list of before where nothing in it has changed, so that nobody draws it again. */
function useSameList<T>(list: readonly T[]): readonly T[] {
  const [kept, setKept] = useState(list);
  const isSame = kept.length === list.length && kept.every((value, at) => value === list[at]);
  if (!isSame) setKept(list);
  return isSame ? kept : list;
}

function Body() {
  const status = useShown((shown) => shown.status);
  const problem = useShown((shown) => shown.problem);
  const input = useRef<HTMLTextAreaElement>(null);
  const interrupt = useInterrupt(input);
  useTalkCommands(interrupt, input);
  const isShown = status === "live" || status === "away";
  useEffect(() => {
    if (isShown) offerFocus(input.current);
  }, [isShown]);
  if (status === "failed")
    return (
      <Empty icon="pulse" title="The conversation cannot be shown">
        <p>{problem}</p>
      </Empty>
    );
  if (status === "loading")
    return (
      <>
        <Loading what="Reading the conversation" />
        {problem === undefined ? null : <Notice tone="warn">{problem}</Notice>}
      </>
    );
  return (
    <>
      <AgentBar />
      <ChildrenStrip />
      <TalkPane onInterrupt={interrupt} />
      <div className={css.bottom}>
        <Pinned onAnswered={() => moveFocus(input.current)} />
        <Speaking onInterrupt={interrupt} input={input} />
      </div>
    </>
  );
}

interface SpeakingProps {
  readonly onInterrupt: () => void;
  readonly input: React.RefObject<HTMLTextAreaElement | null>;
}

function Speaking({ onInterrupt, input }: SpeakingProps) {
  const { session, mayAct } = useAgent();
  const isCut = useTalk((talk) => talk.status.is_cut);
  const life = lifeOf(session);
  if (life === "closed") return <Mute life="closed" />;
  if (!mayAct) return <Mute life="viewer" />;
  return (
    <>
      {life === "parked" ? (
        <p className={css.parked} role="status">
          {isCut
            ? "The agent's process ended in the middle of something. Your next message starts it again."
            : "Sleeping. Your next message wakes it."}
        </p>
      ) : null}
      <Composer onInterrupt={onInterrupt} input={input} />
    </>
  );
}

function useInterrupt(input: SpeakingProps["input"]): () => void {
  const { client, toasts } = useApp();
  const { session_id } = useAgent().session;
  return useCallback(() => {
    // The button goes when the turn ends, and would take the focus with it.
    moveFocus(input.current);
    client
      .call("session.interrupt", { session_id })
      .catch((error: unknown) => toasts.add("bad", sayRefusal(error)));
  }, [client, toasts, session_id, input]);
}

function useTalkCommands(interrupt: () => void, input: SpeakingProps["input"]): void {
  const { mayAct } = useAgent();
  const isRunning = useTalk((talk) => activityOf(talk.status) !== "idle");
  useCommands(
    useMemo<readonly Command[]>(() => {
      if (!mayAct) return [];
      const group = "Agent";
      const focus = () => input.current?.focus();
      const write: Command = { id: "agent.write", group, title: "Write to the agent", run: focus };
      const stop = { id: "agent.interrupt", group, title: "Interrupt the agent", run: interrupt };
      return isRunning ? [stop, write] : [write];
    }, [mayAct, isRunning, interrupt, input]),
  );
}
