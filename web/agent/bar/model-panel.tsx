import { type FormEvent, useCallback, useState } from "react";
import type { CallOptions } from "#client/client.ts";
import { limits } from "#contract/limits.ts";
import { useAgent, useTalk } from "#web/agent/agent-context.ts";
import { sayRefusal, useAction } from "#web/agent/use-action.ts";
import { useApp } from "#web/app/context.ts";
import { useCall } from "#web/live/use-call.ts";
import { Button } from "#web/ui/button.tsx";
import { Field } from "#web/ui/field.tsx";
import { Loading, Notice } from "#web/ui/notice.tsx";
import { Isolated } from "#web/ui/revealed.tsx";
import css from "./bar.module.css";

/** The models that may be chosen for the current agent, and any other by its name. */
export function ModelPanel({ onDone }: { readonly onDone: () => void }) {
  const { client } = useApp();
  const { session, mayAct } = useAgent();
  const { session_id } = session;
  const current = useTalk((talk) => talk.model);
  const choosing = useAction();
  const ask = useCallback(
    (options: CallOptions) => client.call("agent.models", { session_id }, options),
    [client, session_id],
  );
  const models = useCall(ask);
  const choose = async (model: string) => {
    const isDone = await choosing.run(() => client.call("agent.model", { session_id, model }));
    if (isDone) onDone();
  };
  return (
    <div className={css.panel}>
      <p className={css.soft}>
        Current: <Isolated text={current} reading="decision" />
      </p>
      {choosing.problem === undefined ? null : <Notice tone="bad">{choosing.problem}</Notice>}
      {models.error === undefined ? null : <Notice tone="info">{sayRefusal(models.error)}</Notice>}
      {models.isBusy ? <Loading what="Asking the agent" /> : null}
      <ul className={css.choices}>
        {models.value?.models.map(({ model, name, current: isCurrent }) => (
          <li key={`${name ?? ""} ${model}`}>
            <button
              type="button"
              aria-pressed={isCurrent}
              disabled={!mayAct || choosing.isBusy || isCurrent}
              onClick={() => void choose(name ?? model)}
            >
              <strong>
                <Isolated text={name ?? model} reading="decision" />
              </strong>
              {isCurrent ? <em>in use</em> : null}
              {name === undefined ? null : (
                <code>
                  <Isolated text={model} reading="decision" />
                </code>
              )}
            </button>
          </li>
        ))}
      </ul>
      {mayAct ? <OtherModel onChoose={(model) => void choose(model)} /> : null}
    </div>
  );
}

function OtherModel({ onChoose }: { readonly onChoose: (model: string) => void }) {
  const [model, setModel] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (model.trim() !== "") onChoose(model.trim());
  };
  return (
    <form className={css.other} onSubmit={submit}>
      <Field
        label="Another model"
        hint="As provider/model, for example anthropic/claude-sonnet-4-5"
      >
        {(control) => (
          <input
            {...control}
            value={model}
            maxLength={limits.name_chars}
            autoComplete="off"
            onChange={(event) => setModel(event.currentTarget.value)}
          />
        )}
      </Field>
      <div className={css.otherButtons}>
        <Button tone="quiet" onClick={() => onChoose("")}>
          Back to the team's choice
        </Button>
        <Button type="submit" tone="primary" disabled={model.trim() === ""}>
          Use this model
        </Button>
      </div>
    </form>
  );
}
