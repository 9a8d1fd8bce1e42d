import type { MessagePart } from "#contract/agent/message.ts";
import type { UserItem } from "#contract/conversation/items.ts";
import { formatMoment } from "#web/ui/format.ts";
import { Revealed } from "#web/ui/revealed.tsx";
import { ForkButton } from "./fork-button.tsx";
import { Picture } from "./picture.tsx";
import css from "./talk.module.css";

const origins = {
  message: undefined,
  steer: "steered",
  followup: "follow-up",
  system: "from the session",
} as const;
const framings = {
  plain: undefined,
  instruction: "as an instruction",
  replacement: "instead of the task",
} as const;

/** What a person said. */
export function UserMessage({ item }: { readonly item: UserItem }) {
  const how = [origins[item.origin], framings[item.framing]].filter((word) => word !== undefined);
  return (
    <article className={css.user} aria-label="You" title={formatMoment(item.at)}>
      <Parts content={item.content} />
      {how.length === 0 ? null : <p className={css.how}>{how.join(", ")}</p>}
      {item.position === undefined ? null : (
        <footer>
          <ForkButton
            at={item.position}
            label="Fork before this message"
            draft={textOf(item.content)}
          />
        </footer>
      )}
    </article>
  );
}

export function textOf(content: readonly MessagePart[]): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

function Parts({ content }: { readonly content: readonly MessagePart[] }) {
  return content.map((part, at) =>
    part.type === "text" ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a message never change.
      <p key={at} className={css.words} dir="auto">
        <Revealed text={part.text} reading="prose" />
      </p>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: as above.
      <Picture key={at} part={part} label="Picture" />
    ),
  );
}
