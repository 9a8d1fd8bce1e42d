import { useMemo, useState } from "react";
import { useAgent, useTalk } from "#web/agent/agent-context.ts";
import { lifeOf } from "#web/agent/life.ts";
import { sayRefusal, useAction } from "#web/agent/use-action.ts";
import { type Command, useCommands } from "#web/app/commands.ts";
import { useApp } from "#web/app/context.ts";
import { Button } from "#web/ui/button.tsx";
import { Dialog } from "#web/ui/dialog.tsx";
import { Isolated } from "#web/ui/revealed.tsx";
import { AgentPanel } from "./agent-panel.tsx";
import css from "./bar.module.css";
import { ModelPanel } from "./model-panel.tsx";
import { PermissionsPanel } from "./permissions-panel.tsx";
import { ToolsPanel } from "./tools-panel.tsx";
import { UsageView } from "./usage-view.tsx";

type Panel = "agent" | "model" | "tools" | "permissions";

const titles: Readonly<Record<Panel, string>> = {
  agent: "Who goes on",
  model: "Which model",
  tools: "Tools",
  permissions: "What it may do",
};

/** Who speaks, with which model, what it has used, and what it may. */
export function AgentBar() {
  const [panel, setPanel] = useState<Panel>();
  const { session, mayAct } = useAgent();
  const agent = useTalk((talk) => talk.agent);
  const model = useTalk((talk) => talk.model);
  const isClosed = lifeOf(session) === "closed";
  const compacting = useCompaction();
  useCommands(
    useMemo(
      () => (mayAct && !isClosed ? barCommands(setPanel, compacting.compact) : []),
      [mayAct, isClosed, compacting.compact],
    ),
  );
  const close = () => setPanel(undefined);
  return (
    <div className={css.bar}>
      <Choice label="Agent" value={agent} onOpen={() => setPanel("agent")} />
      <Choice label="Model" value={model} onOpen={() => setPanel("model")} />
      <UsageView />
      <span className={css.space} />
      {mayAct && !isClosed ? (
        <Button
          size="small"
          tone="quiet"
          disabled={compacting.isBusy}
          title="Replace the older part of the history by a summary"
          onClick={compacting.compact}
        >
          {compacting.isBusy ? "Compacting…" : "Compact"}
        </Button>
      ) : null}
      <Button size="small" tone="quiet" onClick={() => setPanel("tools")}>
        Tools
      </Button>
      <Button size="small" tone="quiet" icon="shield" onClick={() => setPanel("permissions")}>
        Permissions
      </Button>
      {panel === undefined ? null : (
        <Dialog title={titles[panel]} onClose={close} wide={panel === "tools"}>
          {drawPanel(panel, close)}
        </Dialog>
      )}
    </div>
  );
}

function drawPanel(panel: Panel, onDone: () => void) {
  switch (panel) {
    case "agent":
      return <AgentPanel onDone={onDone} />;
    case "model":
      return <ModelPanel onDone={onDone} />;
    case "tools":
      return <ToolsPanel />;
    case "permissions":
      return <PermissionsPanel />;
  }
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly onOpen: () => void;
}

function Choice({ label, value, onOpen }: ChoiceProps) {
  return (
    <button type="button" className={css.choice} aria-haspopup="dialog" onClick={onOpen}>
      <span>{label}</span>{" "}
      <strong>
        <Isolated text={value === "" ? "…" : value} reading="decision" />
      </strong>
    </button>
  );
}

const outcomes = {
  applied: "The older part of the history is a summary now.",
  skipped: "There was nothing to make shorter.",
  failed: "The history could not be made shorter.",
} as const;

/** Its outcome, or why it cannot be, is said at the edge: it may take a while. */
function useCompaction() {
  const { client, toasts } = useApp();
  const { session_id } = useAgent().session;
  const isCompacting = useTalk((talk) => talk.isCompacting);
  const { run, isBusy } = useAction();
  const compact = useMemo(
    () => () =>
      void run(async () => {
        try {
          const { outcome, message } = await client.call("agent.summarize", { session_id });
          const why = message === undefined ? "" : ` ${message}`;
          toasts.add(outcome === "failed" ? "bad" : "good", `${outcomes[outcome]}${why}`);
        } catch (error) {
          toasts.add("bad", sayRefusal(error));
        }
      }),
    [client, toasts, session_id, run],
  );
  return { compact, isBusy: isBusy || isCompacting };
}

function barCommands(open: (panel: Panel) => void, compact: () => void): readonly Command[] {
  const group = "Agent";
  return [
    { id: "agent.switch", group, title: "Switch the agent", run: () => open("agent") },
    { id: "agent.model", group, title: "Choose another model", run: () => open("model") },
    { id: "agent.tools", group, title: "Show the tools", run: () => open("tools") },
    {
      id: "agent.permissions",
      group,
      title: "Show what the agent may do",
      run: () => open("permissions"),
    },
    { id: "agent.compact", group, title: "Compact the history", run: compact },
  ];
}
