import { memo } from "react";
import type { Item } from "#contract/conversation/items.ts";
import { useTalk } from "#web/agent/agent-context.ts";
import { Notice } from "#web/ui/notice.tsx";
import { Isolated, Revealed } from "#web/ui/revealed.tsx";
import { Answer } from "./answer.tsx";
import { describeAnswer } from "./question-words.ts";
import { SubagentGroup } from "./subagent-group.tsx";
import css from "./talk.module.css";
import { ToolCall } from "./tool-call.tsx";
import { UserMessage } from "./user-message.tsx";

/** What was said and done, oldest first. */
export function ItemList({ items }: { readonly items: readonly Item[] }) {
  const hasSeveral = useTalk(({ agents }) => agents.length > 1);
  let speaker: string | undefined;
  return (
    <ol className={css.list}>
      {items.map((item) => {
        const isNamed = item.kind === "answer" && hasSeveral && item.agent !== speaker;
        if (item.kind === "answer") speaker = item.agent;
        if (item.kind === "user") speaker = undefined;
        return <ItemRow key={`${item.kind}:${item.key}`} item={item} isNamed={isNamed} />;
      })}
    </ol>
  );
}

const drawItems = (items: readonly Item[]) => <ItemList items={items} />;

interface ItemRowProps {
  readonly item: Item;
  readonly isNamed: boolean;
}

/** Drawn again only when it is another: a long conversation stands still while its end grows. */
const ItemRow = memo(function ItemRow({ item, isNamed }: ItemRowProps) {
  if (!isShown(item)) return null;
  return (
    <li className={css.row} data-kind={item.kind}>
      {draw(item, isNamed)}
    </li>
  );
});

function isShown(item: Item): boolean {
  if (item.kind === "answer") return item.text !== "" || item.reasoning !== "" || item.isOpen;
  // The call itself shows what was asked and decided.
  return item.kind !== "approval" || item.asked.kind !== "tool";
}

function draw(item: Item, isNamed: boolean) {
  switch (item.kind) {
    case "user":
      return <UserMessage item={item} />;
    case "answer":
      return <Answer item={item} isNamed={isNamed} />;
    case "call":
      return item.subagent_id === undefined ? (
        <ToolCall call={item} />
      ) : (
        <SubagentGroup id={item.subagent_id} drawItems={drawItems} />
      );
    case "subagent":
      return <SubagentGroup id={item.subagent_id} drawItems={drawItems} />;
    case "summary":
      return (
        <details className={css.summary}>
          <summary>The history before this was summarised</summary>
          <p className={css.words} dir="auto">
            <Revealed text={item.text} reading="prose" />
          </p>
        </details>
      );
    case "error":
      return (
        <Notice tone="bad">
          <Isolated text={item.text} reading="prose" />
        </Notice>
      );
    case "note":
      return (
        <p className={item.tone === "warn" ? css.warning : css.note}>
          <Isolated text={item.text} reading="prose" />
        </p>
      );
    case "approval":
    case "question":
      return (
        <p className={css.question}>
          <strong>Asked:</strong> <Isolated text={item.asked.message} reading="decision" />
          <span>
            <Isolated text={describeAnswer(item)} reading="prose" />
          </span>
        </p>
      );
  }
}
