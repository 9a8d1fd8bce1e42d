import { type ReactNode, useState } from "react";
import type { Item, Subagent } from "#contract/conversation/items.ts";
import { useTalk } from "#web/agent/agent-context.ts";
import { Markdown } from "#web/agent/markdown/markdown.tsx";
import { Badge } from "#web/ui/badge.tsx";
import { Icon } from "#web/ui/icons.tsx";
import { Revealed } from "#web/ui/revealed.tsx";
import { argumentOf } from "./call-words.ts";
import css from "./tool-call.module.css";

const outcomes = {
  done: { text: "done", tone: "good" },
  failed: { text: "failed", tone: "bad" },
  stopped: { text: "stopped", tone: "neutral" },
} as const;

interface SubagentGroupProps {
  readonly id: string;
  readonly drawItems: (items: readonly Item[]) => ReactNode;
}

/** An agent that was sent out with a task, and all that it says and does. */
export function SubagentGroup({ id, drawItems }: SubagentGroupProps) {
  const subagent = useTalk(({ subagents }) => subagents.get(id));
  const [isOpen, setOpen] = useState(false);
  if (subagent === undefined) return null;
  const { text, tone } =
    subagent.outcome === undefined
      ? ({ text: "working", tone: "info" } as const)
      : outcomes[subagent.outcome];
  return (
    <details
      className={`${css.call} ${css.group}`}
      open={isOpen}
      onToggle={(event) => {
        if (event.target === event.currentTarget) setOpen(event.currentTarget.open);
      }}
    >
      <summary className={css.line}>
        <span className={css.fold}>
          <Icon name="right" size={13} />
        </span>
        <Icon name="agent" size={15} />
        <bdi className={css.tool}>
          <Revealed text={subagent.name === "" ? "sub-agent" : subagent.name} reading="prose" />
        </bdi>
        <bdi className={css.argument}>{argumentOf(subagent.task)}</bdi>
        <Badge tone={tone}>{text}</Badge>
      </summary>
      {isOpen ? <GroupBody subagent={subagent} drawItems={drawItems} /> : null}
    </details>
  );
}

interface GroupBodyProps extends Omit<SubagentGroupProps, "id"> {
  readonly subagent: Subagent;
}

function GroupBody({ subagent, drawItems }: GroupBodyProps) {
  const { task, items, answer, outcome } = subagent;
  const isSaid = items.some((item) => item.kind === "answer" && item.text === answer);
  return (
    <div className={css.nested}>
      {task === "" ? null : (
        <figure className={css.task}>
          <figcaption>Task</figcaption>
          <p dir="auto">
            <Revealed text={task} reading="prose" />
          </p>
        </figure>
      )}
      {drawItems(items)}
      {outcome === undefined || isSaid ? null : <Markdown text={answer} />}
    </div>
  );
}
