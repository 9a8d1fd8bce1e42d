import { useCallback } from "react";
import type { CallOptions } from "#client/client.ts";
import type { ToolCard, ToolsetStatus } from "#contract/agent/views.ts";
import { useAgent } from "#web/agent/agent-context.ts";
import { sayRefusal, useAction } from "#web/agent/use-action.ts";
import { useApp } from "#web/app/context.ts";
import { useCall } from "#web/live/use-call.ts";
import { Badge, type Tone } from "#web/ui/badge.tsx";
import { Button } from "#web/ui/button.tsx";
import { Loading, Notice } from "#web/ui/notice.tsx";
import { Isolated, Revealed } from "#web/ui/revealed.tsx";
import css from "./bar.module.css";

const tones: Readonly<Record<ToolsetStatus["status"], Tone>> = {
  starting: "info",
  ready: "good",
  failed: "bad",
  stopped: "neutral",
};

/** What the current agent can use, by where it comes from. */
export function ToolsPanel() {
  const { client } = useApp();
  const { session_id } = useAgent().session;
  const askToolsets = useCallback(
    (options: CallOptions) => client.call("agent.toolsets", { session_id }, options),
    [client, session_id],
  );
  const askTools = useCallback(
    (options: CallOptions) => client.call("agent.tools", { session_id }, options),
    [client, session_id],
  );
  const toolsets = useCall(askToolsets);
  const tools = useCall(askTools);
  const problem = toolsets.error ?? tools.error;
  const known = tools.value?.tools ?? [];
  const names = new Set(toolsets.value?.toolsets.map(({ name }) => name));
  const others = [...Map.groupBy(known, ({ toolset }) => toolset)].filter(
    ([name]) => !names.has(name),
  );
  const again = () => {
    toolsets.again();
    tools.again();
  };
  return (
    <div className={css.panel}>
      {problem === undefined ? null : <Notice tone="info">{sayRefusal(problem)}</Notice>}
      {toolsets.isBusy || tools.isBusy ? <Loading what="Asking the agent" /> : null}
      {toolsets.value?.toolsets.length === 0 && known.length === 0 ? (
        <p className={css.soft}>This agent has no tools: it only speaks.</p>
      ) : null}
      {toolsets.value?.toolsets.map((toolset) => (
        <Toolset
          key={toolset.name}
          toolset={toolset}
          tools={known.filter((tool) => tool.toolset === toolset.name)}
          onRestarted={again}
        />
      ))}
      {others.map(([name, list]) => (
        <section key={name} className={css.toolset} aria-label={name}>
          <h3>{name}</h3>
          <ToolList tools={list} />
        </section>
      ))}
    </div>
  );
}

interface ToolsetProps {
  readonly toolset: ToolsetStatus;
  readonly tools: readonly ToolCard[];
  readonly onRestarted: () => void;
}

function Toolset({ toolset, tools, onRestarted }: ToolsetProps) {
  const { client } = useApp();
  const { session, mayAct } = useAgent();
  const restarting = useAction();
  const { name, kind, status, restartable, message } = toolset;
  const restart = async () => {
    const { session_id } = session;
    if (await restarting.run(() => client.call("agent.restart_toolset", { session_id, name })))
      onRestarted();
  };
  return (
    <section className={css.toolset} aria-label={name}>
      <header>
        <h3>{name}</h3>
        {kind === name ? null : <span className={css.soft}>{kind}</span>}
        <Badge tone={tones[status]}>{status}</Badge>
        {mayAct && restartable ? (
          <Button size="small" disabled={restarting.isBusy} onClick={() => void restart()}>
            {restarting.isBusy ? "Restarting…" : `Restart ${name}`}
          </Button>
        ) : null}
      </header>
      {message === undefined ? null : <p className={css.soft}>{message}</p>}
      {restarting.problem === undefined ? null : <Notice tone="bad">{restarting.problem}</Notice>}
      <ToolList tools={tools} />
    </section>
  );
}

function ToolList({ tools }: { readonly tools: readonly ToolCard[] }) {
  return (
    <ul className={css.tools}>
      {tools.map(({ name, description, read_only, destructive }) => (
        <li key={name}>
          <code>
            <Isolated text={name} reading="decision" />
          </code>
          {read_only ? <Badge>only reads</Badge> : null}
          {destructive ? <Badge tone="warn">may destroy</Badge> : null}
          <p dir="auto">
            <Revealed text={description} reading="prose" />
          </p>
        </li>
      ))}
    </ul>
  );
}
