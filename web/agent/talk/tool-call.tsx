import { useMemo, useState } from "react";
import type { CallItem } from "#contract/conversation/items.ts";
import { describeHidden, revealHidden } from "#contract/text/hidden-characters.ts";
import { useAgent } from "#web/agent/agent-context.ts";
import { formatRoute } from "#web/app/router.ts";
import { Badge } from "#web/ui/badge.tsx";
import { Icon } from "#web/ui/icons.tsx";
import { HiddenWarning, Revealed } from "#web/ui/revealed.tsx";
import { useNow } from "#web/ui/use-now.ts";
import { CallInput } from "./call-input.tsx";
import { argumentOf, describeStatus, durationOf, sessionsOf } from "./call-words.ts";
import { Picture } from "./picture.tsx";
import css from "./tool-call.module.css";

/** One line for a call; unfolded all of it. */
export function ToolCall({ call }: { readonly call: CallItem }) {
  const [isOpen, setOpen] = useState(false);
  const { text, tone } = describeStatus(call);
  return (
    <div className={css.call} data-status={call.status}>
      <details
        open={isOpen}
        onToggle={(event) => setOpen(event.currentTarget.open)}
        className={css.details}
      >
        <summary className={css.line}>
          <span className={css.fold}>
            <Icon name="right" size={13} />
          </span>
          <bdi className={css.tool}>
            <Revealed text={call.tool} reading="decision" />
          </bdi>
          <bdi className={css.argument}>{argumentOf(call.input)}</bdi>
          <HiddenBadge call={call} />
          <Duration call={call} />
          <Badge tone={tone}>{text}</Badge>
        </summary>
        {isOpen ? <CallBody call={call} /> : null}
      </details>
      <Terminals call={call} />
    </div>
  );
}

/** The folded line has no room for the warning. */
function HiddenBadge({ call: { tool, input } }: { readonly call: CallItem }) {
  const found = useMemo(() => describeHidden([tool, input]), [tool, input]);
  if (found === undefined) return null;
  return (
    <span title={found}>
      <Badge tone="bad">hidden characters</Badge>
    </span>
  );
}

function CallBody({ call }: { readonly call: CallItem }) {
  const { output, result, images, reason } = call;
  return (
    <div className={css.body}>
      <HiddenWarning value={[call.tool, call.input]} />
      {call.input === undefined ? null : <CallInput tool={call.tool} input={call.input} />}
      {reason === undefined || reason === "" ? null : (
        <p dir="auto">
          The reason given: <Revealed text={reason} reading="prose" />
        </p>
      )}
      {result === undefined && output !== "" ? <Text label="Output so far" text={output} /> : null}
      {result === undefined ? null : <Text label="Result" text={result} />}
      {images.map((part, at) =>
        part.type === "image" ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the pictures of a result never change.
          <Picture key={at} part={part} label={`Picture of ${call.tool}`} />
        ) : null,
      )}
    </div>
  );
}

function Text({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <figure className={css.text}>
      <figcaption>{label}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll it. */}
      <pre tabIndex={0}>{text === "" ? "(nothing)" : revealHidden(text, "prose")}</pre>
    </figure>
  );
}

function Duration({ call }: { readonly call: CallItem }) {
  if (call.status === "running" && call.started_at !== undefined) return <Ticking call={call} />;
  const ms = durationOf(call, 0);
  return ms === undefined ? null : <span className={css.time}>{sayMs(ms)}</span>;
}

function Ticking({ call }: { readonly call: CallItem }) {
  const ms = durationOf(call, useNow(1000));
  return ms === undefined ? null : <span className={css.time}>{sayMs(ms)}</span>;
}

function sayMs(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s`;
}

function Terminals({ call }: { readonly call: CallItem }) {
  const { children } = useAgent();
  const sessions = sessionsOf(call, children);
  return sessions.map(({ session_id, kind, mode }) => (
    <a
      key={session_id}
      className={css.terminal}
      href={formatRoute({ name: "session", sessionId: session_id })}
    >
      <Icon name={mode === "pty" ? "terminal" : "command"} size={14} />
      {kind === "agent" ? "Open agent" : "Open terminal"}
    </a>
  ));
}
