import { Isolated } from "#web/ui/revealed.tsx";
import css from "./compose.module.css";
import type { SlashCommand } from "./slash.ts";

interface CommandListProps {
  readonly id: string;
  readonly offered: readonly SlashCommand[];
  readonly chosen: number;
  readonly onTake: (name: string) => void;
}

/** Chosen by the arrows from the text, or by a click. */
export function CommandList({ id, offered, chosen, onTake }: CommandListProps) {
  if (offered.length === 0) return null;
  return (
    <div id={id} className={css.commands} role="listbox" aria-label="Commands of the agent">
      {offered.map(({ name, description }, at) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the text keeps the focus, and names the chosen one.
        // biome-ignore lint/a11y/useKeyWithClickEvents: the text has the keys.
        <div
          key={name}
          id={`${id}-${at}`}
          role="option"
          aria-selected={at === chosen}
          onClick={() => onTake(name)}
        >
          <strong>
            /<Isolated text={name} reading="decision" />
          </strong>
          <span>
            <Isolated text={description} reading="prose" />
          </span>
        </div>
      ))}
    </div>
  );
}
