import { useRef } from "react";
import type { Framing } from "#contract/agent/message.ts";
import { Button, IconButton } from "#web/ui/button.tsx";
import css from "./compose.module.css";
import type { Composing, Way } from "./use-composer.ts";

interface ComposerButtonsProps {
  readonly composing: Composing;
  readonly isRunning: boolean;
  readonly isEmpty: boolean;
  readonly onSubmit: (way: Way) => void;
  readonly onInterrupt: () => void;
}

const framings: readonly { readonly value: Framing; readonly words: string }[] = [
  { value: "plain", words: "as I say it" },
  { value: "instruction", words: "as an instruction" },
  { value: "replacement", words: "instead of the task" },
];

export function ComposerButtons(props: ComposerButtonsProps) {
  const { composing, isRunning, isEmpty, onSubmit, onInterrupt } = props;
  const isStill = isEmpty || composing.sending.isBusy;
  return (
    <div className={css.buttons}>
      <AddPicture composing={composing} />
      {isRunning ? (
        <FramingChoice composing={composing} />
      ) : (
        <span className={css.hint}>Enter sends, Shift+Enter is a new line</span>
      )}
      {isRunning ? (
        <div className={css.actions}>
          <Button icon="stop" onClick={onInterrupt} title="Interrupt (Esc)">
            Interrupt
          </Button>
          <Button
            disabled={isStill}
            title="When the turn has ended (Alt+Enter)"
            onClick={() => onSubmit("followup")}
          >
            Follow up
          </Button>
          <Button type="submit" tone="primary" disabled={isStill} title="Into the turn (Enter)">
            Steer
          </Button>
        </div>
      ) : (
        <div className={css.actions}>
          <Button type="submit" tone="primary" icon="send" disabled={isStill}>
            Send
          </Button>
        </div>
      )}
    </div>
  );
}

function FramingChoice({ composing }: { readonly composing: Composing }) {
  return (
    <select
      className={css.framing}
      aria-label="How the agent takes what you steer"
      value={composing.framing}
      onChange={(event) => {
        const chosen = framings.find(({ value }) => value === event.currentTarget.value);
        composing.setFraming(chosen?.value ?? "plain");
      }}
    >
      {framings.map(({ value, words }) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </select>
  );
}

function AddPicture({ composing }: { readonly composing: Composing }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton icon="plus" label="Add a picture" onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        accept="image/png,image/jpeg,image/gif,image/webp"
        multiple
        hidden
        aria-label="Pictures"
        onChange={(event) => {
          composing.addImages([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = "";
        }}
      />
    </>
  );
}
