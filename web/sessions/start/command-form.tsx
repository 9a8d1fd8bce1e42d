import { useState } from "react";
import { Field } from "#web/ui/field.tsx";
import css from "./command-form.module.css";
import { DirectoryField } from "./directory-field.tsx";
import { RadioCard, StartForm, TitleField, WorkspaceField } from "./form-parts.tsx";
import { checkCommand } from "./start-input.ts";
import { createKey, noteStarted, useStart } from "./use-start.ts";
import type { Workplace } from "./use-workplace.ts";

/** One command line, which ends by itself. */
export function CommandForm({ workplace }: { readonly workplace: Workplace }) {
  const [command, setCommand] = useState("");
  const [directory, setDirectory] = useState("");
  const [workspaceId, setWorkspaceId] = useState<string>();
  const [title, setTitle] = useState("");
  const [isTerminal, setTerminal] = useState(true);
  const { workDir } = workplace;
  const { problems, isBusy, submit } = useStart({
    fields: ["command", "directory", "title", "workspace"],
    check: () => checkCommand({ command, directory, workspaceId, title, isTerminal, workDir }),
    start: async (app, input) => {
      const asked = { ...input, idempotency_key: createKey() };
      return noteStarted(app, await app.client.call("session.create", asked));
    },
  });
  return (
    <StartForm
      label="Command"
      button="Run the command"
      isBusy={isBusy}
      problem={problems.form}
      onSubmit={submit}
    >
      <Field label="Command line" error={problems.command} hint="As you would type it in a shell.">
        {(control) => (
          <input
            {...control}
            className={`${control.className} ${css.command}`}
            value={command}
            autoCapitalize="none"
            autoComplete="off"
            spellCheck={false}
            placeholder="make -j4"
            onChange={(event) => setCommand(event.target.value)}
          />
        )}
      </Field>
      <DirectoryField
        value={directory}
        onChange={setDirectory}
        workDir={workDir}
        error={problems.directory}
      />
      <WaysField isTerminal={isTerminal} onChange={setTerminal} />
      <WorkspaceField
        workplace={workplace}
        value={workspaceId}
        onChange={setWorkspaceId}
        error={problems.workspace}
      />
      <TitleField value={title} onChange={setTitle} error={problems.title} />
    </StartForm>
  );
}

interface WaysFieldProps {
  readonly isTerminal: boolean;
  readonly onChange: (isTerminal: boolean) => void;
}

function WaysField({ isTerminal, onChange }: WaysFieldProps) {
  return (
    <fieldset className={css.ways}>
      <legend>It runs in</legend>
      <RadioCard
        name="way"
        label="A terminal (PTY)"
        note="Colours and progress as you know them; you can type into it."
        isChecked={isTerminal}
        onChoose={() => onChange(true)}
      />
      <RadioCard
        name="way"
        label="Pipes"
        note="Plain output, and errors told apart: for what a program reads."
        isChecked={!isTerminal}
        onChoose={() => onChange(false)}
      />
    </fieldset>
  );
}
