import { useTalk } from "#web/agent/agent-context.ts";
import { textOf } from "#web/agent/talk/user-message.tsx";
import { Icon } from "#web/ui/icons.tsx";
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
          <li key={queue_id} title={text}>
            <Icon name="clock" size={13} />
            <strong>{kinds[kind]}</strong>
            <span>{text === "" ? "a picture" : text.slice(0, CHIP_CHARS).toWellFormed()}</span>
          </li>
        );
      })}
    </ul>
  );
}
