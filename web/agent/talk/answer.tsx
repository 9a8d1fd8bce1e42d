import type { AnswerItem } from "#contract/conversation/items.ts";
import { revealHidden } from "#contract/text/hidden-characters.ts";
import { useAgent } from "#web/agent/agent-context.ts";
import { CopyButton } from "#web/agent/markdown/copy-button.tsx";
import { Markdown } from "#web/agent/markdown/markdown.tsx";
import { formatMoment } from "#web/ui/format.ts";
import { Isolated, Revealed } from "#web/ui/revealed.tsx";
import { ForkButton } from "./fork-button.tsx";
import css from "./talk.module.css";

/** What an agent says, as it comes. */
export function Answer({
  item,
  isNamed,
}: {
  readonly item: AnswerItem;
  readonly isNamed: boolean;
}) {
  const { mayAct } = useAgent();
  const { agent, text, reasoning, isOpen, position } = item;
  return (
    <article
      className={css.answer}
      aria-label={agent === "" ? "The agent" : revealHidden(agent, "prose")}
    >
      {isNamed ? (
        <p className={css.name}>
          <Isolated text={agent} reading="prose" />
        </p>
      ) : null}
      {reasoning === "" ? null : <Reasoning text={reasoning} isNow={isOpen && text === ""} />}
      {text === "" ? null : <Markdown text={text} />}
      {isOpen ? (
        <span className={css.cursor} role="status" aria-label="The agent is speaking" />
      ) : null}
      {item.isInterrupted ? <p className={css.note}>It was interrupted here.</p> : null}
      {item.cut === undefined ? null : <p className={css.warning}>{item.cut}</p>}
      {isOpen || text === "" ? null : (
        <footer title={formatMoment(item.at)}>
          <CopyButton text={text} label="Copy this answer" isSmall />
          {mayAct && position !== undefined ? (
            <ForkButton at={position + 1} label="Fork after this answer" draft="" />
          ) : null}
        </footer>
      )}
    </article>
  );
}

function Reasoning({ text, isNow }: { readonly text: string; readonly isNow: boolean }) {
  return (
    <details className={css.reasoning}>
      <summary>{isNow ? "Thinking…" : "Thoughts"}</summary>
      <p className={css.words} dir="auto">
        <Revealed text={text} reading="prose" />
      </p>
    </details>
  );
}
