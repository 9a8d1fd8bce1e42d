import { memo, type ReactNode } from "react";
import { Revealed } from "#web/ui/revealed.tsx";
import { type CallPart, partsOf } from "./call-parts.ts";
import type { DiffLine } from "./diff.ts";
import { foldLine, foldLines, isFoldable, sayHidden } from "./fold.ts";
import css from "./tool-call.module.css";

interface CallInputProps {
  readonly tool: string;
  readonly input: unknown;
  /** Shows only the head and the tail of what is long. */
  readonly isFolded?: boolean;
}

/** The input of a call. */
export const CallInput = memo(function CallInput({
  tool,
  input,
  isFolded = false,
}: CallInputProps) {
  return partsOf(tool, input).map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a call never change.
    <Part key={at} part={part} isFolded={isFolded} />
  ));
});

export function hasFolds(tool: string, input: unknown): boolean {
  return partsOf(tool, input).some(({ lines }) => isFoldable(lines));
}

function Part({ part, isFolded }: { readonly part: CallPart; readonly isFolded: boolean }) {
  const { label, path, lines } = part;
  const draw = path === undefined ? drawPlain : drawChanged;
  const folded = isFolded ? foldLines(lines) : undefined;
  const text = (line: DiffLine) => (isFolded ? <LongLine text={line.text} /> : shown(line.text));
  return (
    <figure className={css.text}>
      <figcaption>
        {path === undefined ? (
          label
        ) : (
          <>
            <span className="visually-hidden">Changes of </span>
            <bdi dir="ltr">{shown(path)}</bdi>
          </>
        )}
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll it. */}
      <pre tabIndex={0} dir="ltr" className={path === undefined ? undefined : css.diff}>
        {(folded?.head ?? lines).map((line, at) => draw(line, text(line), at))}
        {folded === undefined ? null : (
          <>
            <em className={css.hidden}>… {sayHidden(folded)}</em>
            {"\n"}
            {folded.tail.map((line, at) => draw(line, text(line), at))}
          </>
        )}
      </pre>
    </figure>
  );
}

const shown = (text: string) => <Revealed text={text} reading="decision" />;

function LongLine({ text }: { readonly text: string }) {
  const folded = foldLine(text);
  if (folded === undefined) return shown(text);
  return (
    <>
      {shown(folded.head)}
      <em className={css.hidden}>… {sayHidden(folded)} …</em>
      {shown(folded.tail)}
    </>
  );
}

function drawPlain(_line: DiffLine, text: ReactNode, at: number) {
  return (
    <span key={at}>
      {text}
      {"\n"}
    </span>
  );
}

const names = { "+": css.added, "-": css.removed, " ": css.same } as const;
const words = { "+": "added: ", "-": "removed: ", " ": "" } as const;

function drawChanged({ sign }: DiffLine, text: ReactNode, at: number) {
  return (
    <span key={at} className={names[sign]}>
      <span className="visually-hidden">{words[sign]}</span>
      <span aria-hidden="true">{sign}</span> {text}
      {"\n"}
    </span>
  );
}
