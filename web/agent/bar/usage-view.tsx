import { useTalk } from "#web/agent/agent-context.ts";
import { formatCost } from "#web/ui/format.ts";
import css from "./bar.module.css";
import { formatTokens } from "./tokens.ts";

/** What the session has used, and how full the context is. */
export function UsageView() {
  const usage = useTalk((talk) => talk.usage);
  const used = useTalk((talk) => talk.context_tokens);
  const limit = useTalk((talk) => talk.context_limit);
  const words = `${usage.input_tokens} tokens in, ${usage.output_tokens} tokens out, ${formatCost(usage.cost)}`;
  return (
    <>
      <span className={css.usage} title={words}>
        <span className="visually-hidden">{words}</span>
        <span aria-hidden="true">
          {formatTokens(usage.input_tokens)} in · {formatTokens(usage.output_tokens)} out ·{" "}
          {formatCost(usage.cost)}
        </span>
      </span>
      {limit === null || limit === 0 ? null : <ContextMeter used={used} limit={limit} />}
    </>
  );
}

const FULL = 0.85;

function ContextMeter({ used, limit }: { readonly used: number; readonly limit: number }) {
  const part = Math.min(1, used / limit);
  const words = `${formatTokens(used)} of ${formatTokens(limit)} tokens of context`;
  return (
    <span className={css.context} title={words}>
      {/* biome-ignore lint/a11y/useSemanticElements: the browser's own meter does not take our colours. */}
      <span
        className={css.meter}
        role="meter"
        aria-label="Context in use"
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(used, limit)}
        aria-valuetext={words}
      >
        <span data-full={part > FULL} style={{ width: `${part * 100}%` }} />
      </span>
      <span aria-hidden="true">{Math.round(part * 100)} %</span>
    </span>
  );
}
