import { type KeyboardEvent, useEffect, useRef } from "react";
import { activityOf } from "#contract/agent/agent-status.ts";
import { earlierPage } from "#contract/conversation/snapshot.ts";
import { useAgent, useShown, useTalk } from "#web/agent/agent-context.ts";
import { useNewCount, useStickToEnd } from "#web/agent/scroll.ts";
import { ItemList } from "#web/agent/talk/item-list.tsx";
import { useAction } from "#web/agent/use-action.ts";
import { useStore } from "#web/live/store.ts";
import { Button } from "#web/ui/button.tsx";
import { Notice } from "#web/ui/notice.tsx";
import { Isolated } from "#web/ui/revealed.tsx";
import css from "./agent-view.module.css";

/** The conversation. */
export function TalkPane({ onInterrupt }: { readonly onInterrupt: () => void }) {
  const items = useTalk((talk) => talk.main.items);
  const first = useTalk((talk) => talk.first);
  const welcome = useTalk((talk) => talk.welcome);
  const isRunning = useTalk((talk) => activityOf(talk.status) === "running");
  const scroller = useRef<HTMLElement>(null);
  const { isAway, onScroll, toEnd } = useStickToEnd(scroller, first);
  const newCount = useNewCount(items, isAway);
  const said = useStore(useAgent().agent.said);
  useEffect(() => {
    if (said > 0) toEnd();
  }, [said, toEnd]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented || !isRunning) return;
    event.preventDefault();
    onInterrupt();
  };
  return (
    <div className={css.middle}>
      <section
        ref={scroller}
        className={css.scroller}
        aria-label="Conversation"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll it.
        tabIndex={0}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
      >
        <div className={css.column}>
          {first > 0 ? <Earlier /> : null}
          {items.length === 0 ? (
            <p className={css.welcome}>
              <Isolated
                text={welcome ?? "No messages yet. Write to the agent below."}
                reading="prose"
              />
            </p>
          ) : null}
          <ItemList items={items} />
          {isRunning ? <Working /> : null}
        </div>
      </section>
      {isAway ? (
        <Button
          className={css.newer ?? ""}
          tone={newCount > 0 ? "primary" : "plain"}
          icon="down"
          onClick={toEnd}
        >
          Jump to latest{newCount > 0 ? ` (${newCount} new)` : ""}
        </Button>
      ) : null}
      <Away />
    </div>
  );
}

/** Between two answers nothing else would show that it works. */
function Working() {
  const isShown = useTalk(({ main }) => {
    const last = main.items.at(-1);
    return !(last?.kind === "answer" && last.isOpen);
  });
  if (!isShown) return null;
  return (
    <p className={css.working} role="status">
      <span aria-hidden="true" /> Working…
    </p>
  );
}

function Earlier() {
  const { agent } = useAgent();
  const first = useTalk((talk) => talk.first);
  const canLoad = useTalk((talk) => earlierPage(talk) !== undefined);
  const loading = useAction();
  if (!canLoad)
    return (
      <p className={css.earlier}>
        {first} earlier messages are not shown here. Export the session to read them.
      </p>
    );
  return (
    <div className={css.earlier}>
      <Button
        size="small"
        disabled={loading.isBusy}
        onClick={() => void loading.run(() => agent.loadEarlier())}
      >
        {loading.isBusy ? "Reading…" : `Show earlier messages (${first})`}
      </Button>
      {loading.problem === undefined ? null : <Notice tone="bad">{loading.problem}</Notice>}
    </div>
  );
}

function Away() {
  const status = useShown((shown) => shown.status);
  if (status !== "away") return null;
  return (
    <p className={css.away} role="status">
      Connection lost. Showing the last known state; reconnecting…
    </p>
  );
}
