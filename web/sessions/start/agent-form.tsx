import { useCallback, useState } from "react";
import type { CallOptions } from "#client/client.ts";
import { limits } from "#contract/limits.ts";
import { useApp } from "#web/app/context.ts";
import { useCall } from "#web/live/use-call.ts";
import { Field } from "#web/ui/field.tsx";
import { Notice } from "#web/ui/notice.tsx";
import { DirectoryField } from "./directory-field.tsx";
import { listTeamProblems } from "./fault-place.ts";
import { StartForm, WorkspaceField } from "./form-parts.tsx";
import { type AgentForm as AgentChoices, checkAgent, type SafetyMode } from "./start-input.ts";
import { TeamField } from "./team-field.tsx";
import { TeamProblems } from "./team-problems.tsx";
import { useLoadedTeam } from "./use-loaded-team.ts";
import { createKey, sendFirst, useStart } from "./use-start.ts";
import type { Workplace } from "./use-workplace.ts";

type Choices = Omit<AgentChoices, "workDir">;

const FIELDS = ["team", "path", "agent", "directory", "workspace", "message", "safety"];
const nothing: Choices = {
  ...{ team: undefined, agent: "", safety: undefined },
  ...{ directory: "", workspaceId: undefined, message: "" },
};

/** An agent of a team, with what it is to do first. */
export function AgentForm({ workplace }: { readonly workplace: Workplace }) {
  const [choices, setChoices] = useState(nothing);
  const change = (changed: Partial<Choices>) => setChoices((before) => ({ ...before, ...changed }));
  const loaded = useLoadedTeam(choices.team);
  const { problems, error, isBusy, submit, forget } = useStart({
    fields: FIELDS,
    check: () => checkAgent({ ...choices, workDir: workplace.workDir }),
    start: async (app, input) => {
      const asked = { ...input, idempotency_key: createKey() };
      const { session_id } = await app.client.call("agent.create", asked);
      await sendFirst(app, session_id, choices.message);
      return session_id;
    },
  });
  // Said once: with the places in the file where there are any.
  const hasPlaces = listTeamProblems(error).length > 0;
  return (
    <StartForm
      label="Agent"
      button="Start the agent"
      isBusy={isBusy}
      problem={problems.form}
      onSubmit={submit}
    >
      <TeamField
        teams={useTeams()}
        value={choices.team}
        onChange={(team) => {
          change({ team, agent: "" });
          forget();
        }}
        problems={hasPlaces ? {} : problems}
      />
      <TeamProblems error={hasPlaces ? error : problems.team ? undefined : loaded.error} />
      <AgentField
        names={loaded.value?.agent_names ?? []}
        first={loaded.value?.default_agent}
        value={choices.agent}
        onChange={(agent) => change({ agent })}
        error={problems.agent}
      />
      <MessageField
        value={choices.message}
        onChange={(message) => change({ message })}
        error={problems.message}
      />
      <DirectoryField
        value={choices.directory}
        onChange={(directory) => change({ directory })}
        workDir={workplace.workDir}
        error={problems.directory}
      />
      <SafetyField
        value={choices.safety}
        onChange={(safety) => change({ safety })}
        error={problems.safety}
      />
      <WorkspaceField
        workplace={workplace}
        value={choices.workspaceId}
        onChange={(workspaceId) => change({ workspaceId })}
        error={problems.workspace}
      />
      {loaded.value?.warnings.map((warning) => (
        <Notice key={warning} tone="warn">
          {warning}
        </Notice>
      ))}
    </StartForm>
  );
}

function useTeams() {
  const { client } = useApp();
  const ask = useCallback(
    (options: CallOptions) => client.call("team.list", { limit: limits.list_default }, options),
    [client],
  );
  return useCall(ask);
}

interface AgentFieldProps {
  readonly names: readonly string[];
  readonly first: string | undefined;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error: string | undefined;
}

function AgentField({ names, first, value, onChange, error }: AgentFieldProps) {
  if (names.length < 2 && error === undefined) return null;
  return (
    <Field label="Agent to talk to" error={error}>
      {(control) => (
        <select
          {...control}
          value={value || first}
          onChange={(event) => onChange(event.target.value)}
        >
          {names.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface MessageFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error: string | undefined;
}

const MESSAGE_ROWS = 4;

function MessageField({ value, onChange, error }: MessageFieldProps) {
  return (
    <Field
      label="First message"
      error={error}
      hint="Left empty, the agent waits until you say something. Ctrl Enter starts it."
    >
      {(control) => (
        <textarea
          {...control}
          rows={MESSAGE_ROWS}
          value={value}
          placeholder="What should it do?"
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            event.currentTarget.form?.requestSubmit();
          }}
        />
      )}
    </Field>
  );
}

const SAFETY: readonly (readonly [SafetyMode, string])[] = [
  ["strict", "Strict: asks before every tool call"],
  ["balanced", "Balanced: asks before what changes something"],
  ["restricted", "Restricted: only reads, never asks"],
  ["autonomous", "Autonomous: does all of it without asking"],
];

interface SafetyFieldProps {
  readonly value: SafetyMode | undefined;
  readonly onChange: (value: SafetyMode | undefined) => void;
  readonly error: string | undefined;
}

function SafetyField({ value, onChange, error }: SafetyFieldProps) {
  return (
    <Field label="What it may do" error={error}>
      {(control) => (
        <select
          {...control}
          value={value ?? ""}
          onChange={(event) => onChange(SAFETY.find(([mode]) => mode === event.target.value)?.[0])}
        >
          <option value="">As its team file says</option>
          {SAFETY.map(([mode, words]) => (
            <option key={mode} value={mode}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
