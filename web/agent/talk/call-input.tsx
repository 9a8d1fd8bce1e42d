import { memo } from "react";
import { commandOf, printInput } from "./call-words.ts";
import { changesOf, type FileChange } from "./diff.ts";
import css from "./tool-call.module.css";

/** What a call is to do, whole: a change of a file as its lines, a command as it is, the rest as JSON. */
export const CallInput = memo(function CallInput({
  tool,
  input,
}: {
  readonly tool: string;
  readonly input: unknown;
}) {
  const changes = changesOf(tool, input);
  if (changes !== undefined)
    return changes.map((change, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the edits of a call never change.
      <Change key={at} change={change} />
    ));
  const label = commandOf(input) === undefined ? "Input" : "Command";
  return (
    <figure className={css.text}>
      <figcaption>{label}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has only a keyboard scrolls it by the arrows. */}
      <pre tabIndex={0}>{printInput(input)}</pre>
    </figure>
  );
});

const names = { "+": css.added, "-": css.removed, " ": css.same } as const;
const words = { "+": "added: ", "-": "removed: ", " ": "" } as const;

function Change({ change: { path, lines } }: { readonly change: FileChange }) {
  return (
    <figure className={css.text}>
      <figcaption>
        <span className="visually-hidden">Changes of </span>
        {path}
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: as above. */}
      <pre tabIndex={0} className={css.diff}>
        {lines.map(({ sign, text }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a change never change.
          <span key={at} className={names[sign]}>
            <span className="visually-hidden">{words[sign]}</span>
            <span aria-hidden="true">{sign}</span> {text}
            {"\n"}
          </span>
        ))}
      </pre>
    </figure>
  );
}
