import { useState } from "react";
import { revealHidden } from "#contract/text/hidden-characters.ts";
import { Field } from "#web/ui/field.tsx";
import { DirectoryField } from "./directory-field.tsx";
import { StartForm, TitleField, WorkspaceField } from "./form-parts.tsx";
import { checkShell } from "./start-input.ts";
import { createKey, noteStarted, useStart } from "./use-start.ts";
import type { Workplace } from "./use-workplace.ts";

/** A terminal in a directory, or in the one of a task. */
export function ShellForm({ workplace }: { readonly workplace: Workplace }) {
  const [taskId, setTaskId] = useState<string>();
  const [directory, setDirectory] = useState("");
  const [workspaceId, setWorkspaceId] = useState<string>();
  const [title, setTitle] = useState("");
  const { workDir } = workplace;
  const { problems, isBusy, submit } = useStart({
    fields: ["directory", "task", "title", "workspace"],
    check: () => checkShell({ taskId, directory, workspaceId, title, workDir }),
    start: async (app, input) => {
      const asked = { ...input, idempotency_key: createKey() };
      return noteStarted(app, await app.client.call("session.create", asked));
    },
  });
  return (
    <StartForm
      label="Shell"
      button="Open the shell"
      isBusy={isBusy}
      problem={problems.form}
      onSubmit={submit}
    >
      <TaskField workplace={workplace} value={taskId} onChange={setTaskId} error={problems.task} />
      {taskId === undefined ? (
        <>
          <DirectoryField
            value={directory}
            onChange={setDirectory}
            workDir={workDir}
            error={problems.directory}
          />
          <WorkspaceField
            workplace={workplace}
            value={workspaceId}
            onChange={setWorkspaceId}
            error={problems.workspace}
          />
        </>
      ) : null}
      <TitleField value={title} onChange={setTitle} error={problems.title} />
    </StartForm>
  );
}

interface TaskFieldProps {
  readonly workplace: Workplace;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
  readonly error: string | undefined;
}

function TaskField({ workplace: { tasks }, value, onChange, error }: TaskFieldProps) {
  if (tasks.length === 0) return null;
  const chosen = tasks.find(({ task_id }) => task_id === value);
  return (
    <Field label="For" error={error} hint={chosen?.work_dir}>
      {(control) => (
        <select
          {...control}
          value={value ?? ""}
          onChange={(event) => onChange(event.target.value || undefined)}
        >
          <option value="">A directory</option>
          {tasks.map(({ task_id, title, work_dir }) => (
            <option key={task_id} value={task_id}>
              Task: {revealHidden(title || work_dir, "prose")}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
