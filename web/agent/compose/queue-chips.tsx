import { revealHidden } from "#contract/text/hidden-characters.ts";
import { useTalk } from "#web/agent/agent-context.ts";
import { shorten } from "#web/agent/talk/fold.ts";
import { textOf } from "#web/agent/talk/user-message.tsx";
import { Icon } from "#web/ui/icons.tsx";
import { Revealed } from "#web/ui/revealed.tsx";
import css from "./compose.module.css";

const CHIP_CHARS = 80;
const kinds = { steer: "Steers", followup: "Next" } as const;

/** What was said and waits for its moment. */
export function QueueChips() {
  const queue = useTalk((talk) => talk.queue);
  if (queue.length === 0) return null;
  return (
    <ul className={css.queue} aria-label="Waits for the agent">
      {queue.map(({ queue_id, kind, content }) => {
        const text = textOf(content);
        return (
          <li key={queue_id} title={revealHidden(text, "prose")}>
            <Icon name="clock" size={13} />
            <strong>{kinds[kind]}</strong>
            <bdi>
              <Revealed
                text={text === "" ? "a picture" : shorten(text, CHIP_CHARS)}
                reading="prose"
              />
            </bdi>
          </li>
        );
      })}
    </ul>
  );
}
