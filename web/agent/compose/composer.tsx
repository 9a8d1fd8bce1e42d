import { type ClipboardEvent, type KeyboardEvent, useId, useState } from "react";
import { activityOf } from "#contract/agent/agent-status.ts";
import { limits } from "#contract/limits.ts";
import { useAgent, useTalk } from "#web/agent/agent-context.ts";
import { Picture } from "#web/agent/talk/picture.tsx";
import { IconButton } from "#web/ui/button.tsx";
import { hasCoarsePointer, moveFocus } from "#web/ui/focus.ts";
import { Notice } from "#web/ui/notice.tsx";
import { CommandList } from "./command-list.tsx";
import css from "./compose.module.css";
import { ComposerButtons } from "./composer-buttons.tsx";
import { QueueChips } from "./queue-chips.tsx";
import { offerCommands } from "./slash.ts";
import { type Composing, useComposer, type Way } from "./use-composer.ts";

const NO_COMMANDS = {};

interface ComposerProps {
  readonly onInterrupt: () => void;
  readonly input: React.RefObject<HTMLTextAreaElement | null>;
}

/** Where one speaks to the agent: a message, or while it works something into its turn or behind it. */
export function Composer({ onInterrupt, input }: ComposerProps) {
  const composing = useComposer();
  const isRunning = useTalk((talk) => activityOf(talk.status) !== "idle");
  const way: Way = isRunning ? "steer" : "send";
  const { sending, text, images } = composing;
  // A button that was pressed is disabled while it sends, and would lose the focus to nothing.
  const submit = (by: Way) => {
    moveFocus(input.current);
    composing.submit(by);
  };
  return (
    <form
      className={css.composer}
      aria-label="Write to the agent"
      onSubmit={(event) => {
        event.preventDefault();
        submit(way);
      }}
    >
      <QueueChips />
      {sending.problem === undefined ? null : <Notice tone="bad">{sending.problem}</Notice>}
      <Images composing={composing} />
      <Entry composing={composing} way={way} onInterrupt={onInterrupt} input={input} />
      <ComposerButtons
        composing={composing}
        isRunning={isRunning}
        isEmpty={text.trim() === "" && images.length === 0}
        onSubmit={submit}
        onInterrupt={onInterrupt}
      />
    </form>
  );
}

interface EntryProps extends ComposerProps {
  readonly composing: Composing;
  readonly way: Way;
}

/** The commands that are offered, and which of them the keys have chosen. */
function useOffer({ text, setText }: Composing) {
  const commands = useTalk(
    ({ agents, agent }) => agents.find(({ name }) => name === agent)?.commands ?? NO_COMMANDS,
  );
  const [chosen, setChosen] = useState(0);
  const [dismissed, setDismissed] = useState("");
  const offered = text === dismissed ? [] : offerCommands(commands, text);
  const at = Math.min(chosen, offered.length - 1);
  const take = (name: string) => {
    setText(`/${name} `);
    setChosen(0);
  };
  const dismiss = () => setDismissed(text);
  const move = (by: number) => setChosen((at + by + offered.length) % offered.length);
  return { offered, at, take, move, dismiss };
}

function Entry({ composing, way, onInterrupt, input }: EntryProps) {
  const { text, setText, addImages, submit } = composing;
  const offer = useOffer(composing);
  const listId = useId();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (offer.offered.length > 0 && chooseByKey(event, offer)) return;
    if (event.key === "Escape" && way === "steer") {
      event.preventDefault();
      onInterrupt();
    }
    // Keyboards on glass have no Shift+Enter.
    if (event.key !== "Enter" || event.shiftKey || hasCoarsePointer()) return;
    event.preventDefault();
    submit(event.altKey && way === "steer" ? "followup" : way);
  };
  const onPaste = (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files].filter(({ type }) => type.startsWith("image/"));
    if (files.length === 0) return;
    event.preventDefault();
    addImages(files);
  };
  return (
    <div className={css.entry}>
      <CommandList
        id={listId}
        offered={offer.offered}
        chosen={offer.at}
        onTake={(name) => {
          offer.take(name);
          input.current?.focus();
        }}
      />
      <textarea
        ref={input}
        className={css.text}
        aria-label={way === "steer" ? "Message into the turn" : "Message"}
        aria-autocomplete="list"
        aria-controls={offer.offered.length > 0 ? listId : undefined}
        aria-activedescendant={offer.offered.length > 0 ? `${listId}-${offer.at}` : undefined}
        placeholder={way === "steer" ? "Say something while it works…" : "Write to the agent…"}
        rows={1}
        maxLength={limits.message_chars}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
    </div>
  );
}

/** True when the key was for the list. */
function chooseByKey(event: KeyboardEvent, offer: ReturnType<typeof useOffer>): boolean {
  const chosen = offer.offered[offer.at];
  if (event.key === "ArrowDown") offer.move(1);
  else if (event.key === "ArrowUp") offer.move(-1);
  else if (event.key === "Escape") offer.dismiss();
  else if ((event.key === "Tab" || event.key === "Enter") && chosen !== undefined)
    offer.take(chosen.name);
  else return false;
  event.preventDefault();
  return true;
}

function Images({ composing: { images, dropImage } }: { readonly composing: Composing }) {
  if (images.length === 0) return null;
  return (
    <ul className={css.images} aria-label="Pictures to send">
      {images.map((part, at) => (
        <li key={part.data_b64?.slice(-64) ?? at}>
          <Picture part={part} label={`Picture ${at + 1}`} />
          <IconButton
            icon="close"
            label={`Remove picture ${at + 1}`}
            onClick={() => dropImage(at)}
          />
        </li>
      ))}
    </ul>
  );
}

/** Why nobody can write here, where it is so. */
export function Mute({ life }: { readonly life: "closed" | "viewer" }) {
  const { session } = useAgent();
  return (
    <p className={css.mute} role="status">
      {life === "closed"
        ? `This session was closed for good${session.exited_at === null ? "" : ` on ${new Date(session.exited_at).toLocaleString()}`}. You can read it, export it, or fork it from any message.`
        : "You may look at this conversation, but not speak: your role is viewer."}
    </p>
  );
}
