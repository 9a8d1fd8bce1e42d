import { useId, useState } from "react";
import type { OperationInput, OperationOutput } from "#contract/operations.ts";
import { useApp } from "#web/app/context.ts";
import { sayFault } from "#web/live/page-client.ts";
import { Button } from "#web/ui/button.tsx";
import { Dialog } from "#web/ui/dialog.tsx";
import { Field } from "#web/ui/field.tsx";
import { Notice } from "#web/ui/notice.tsx";
import css from "./admin.module.css";
import {
  type DraftFaults,
  LIFETIMES,
  NO_DRAFT,
  ROLE_WORDS,
  ROLES,
  readDraft,
  type TokenDraft,
} from "./token-words.ts";
import { useWorkspaces } from "./use-workspaces.ts";

const TEXT_CHARS = 200;

interface TokenFormProps {
  readonly onClose: () => void;
  readonly onMade: (made: OperationOutput<"token.create">) => void;
}

export function TokenForm({ onClose, onMade }: TokenFormProps) {
  const { client } = useApp();
  const [draft, setDraft] = useState(NO_DRAFT);
  const [faults, setFaults] = useState<DraftFaults>({});
  const [error, setError] = useState<unknown>();
  const [isBusy, setIsBusy] = useState(false);
  const submit = async () => {
    const read = readDraft(draft);
    setFaults("faults" in read ? read.faults : {});
    if ("faults" in read) return;
    setIsBusy(true);
    try {
      // Ids come from the server's own list.
      const asked = read.asked as OperationInput<"token.create">;
      onMade(await client.call("token.create", asked));
    } catch (fault) {
      setError(fault);
      setIsBusy(false);
    }
  };
  const change = (part: Partial<TokenDraft>) => setDraft({ ...draft, ...part });
  return (
    <Dialog title="New token" onClose={onClose}>
      <form
        className={css.stack}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <WhoFields draft={draft} faults={faults} onChange={change} />
        <RoleChoice draft={draft} onChange={change} />
        <ScopeChoice draft={draft} faults={faults} onChange={change} />
        <LifetimeChoice draft={draft} onChange={change} />
        {error === undefined ? null : <Notice tone="bad">{sayFault(error)}</Notice>}
        <div className={css.buttons}>
          <Button type="submit" tone="primary" disabled={isBusy}>
            Make the token
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}

interface PartProps {
  readonly draft: TokenDraft;
  readonly onChange: (part: Partial<TokenDraft>) => void;
}

function WhoFields({ draft, faults, onChange }: PartProps & { readonly faults: DraftFaults }) {
  return (
    <>
      <Field label="User" hint="Who acts with it, like ann or ci@build." error={faults.user_id}>
        {(control) => (
          <input
            {...control}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            maxLength={TEXT_CHARS}
            value={draft.user_id}
            onChange={(event) => onChange({ user_id: event.target.value })}
          />
        )}
      </Field>
      <Field label="Label (may be empty)" hint="What it is for, so that you know it again.">
        {(control) => (
          <input
            {...control}
            autoComplete="off"
            maxLength={TEXT_CHARS}
            value={draft.label}
            onChange={(event) => onChange({ label: event.target.value })}
          />
        )}
      </Field>
    </>
  );
}

function RoleChoice({ draft, onChange }: PartProps) {
  const name = useId();
  return (
    <fieldset className={css.choice}>
      <legend>Role</legend>
      {ROLES.map((role) => (
        <label key={role}>
          <input
            type="radio"
            name={name}
            checked={draft.role === role}
            onChange={() => onChange({ role })}
          />
          <span>
            <strong>{role}</strong> {ROLE_WORDS[role]}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function ScopeChoice({ draft, faults, onChange }: PartProps & { readonly faults: DraftFaults }) {
  const { identity } = useApp();
  const { workspaces, error } = useWorkspaces();
  const name = useId();
  const all = identity.workspaces === "*" ? "Every workspace, also later ones" : "All of yours";
  const toggle = (id: string) =>
    onChange({
      chosen: draft.chosen.includes(id)
        ? draft.chosen.filter((other) => other !== id)
        : [...draft.chosen, id],
    });
  const scope = (value: TokenDraft["scope"], words: string) => (
    <label>
      <input
        type="radio"
        name={name}
        checked={draft.scope === value}
        onChange={() => onChange({ scope: value })}
      />
      <span>{words}</span>
    </label>
  );
  return (
    <fieldset className={css.choice}>
      <legend>Sees</legend>
      {scope("mine", all)}
      {scope("chosen", "Only these")}
      {draft.scope === "chosen" ? (
        <div className={css.among}>
          {workspaces.map(({ workspace_id, name: called }) => (
            <label key={workspace_id}>
              <input
                type="checkbox"
                checked={draft.chosen.includes(workspace_id)}
                onChange={() => toggle(workspace_id)}
              />
              <span>{called}</span>
            </label>
          ))}
        </div>
      ) : null}
      {error === undefined ? null : <Notice tone="bad">{sayFault(error)}</Notice>}
      {faults.chosen === undefined ? null : <Notice tone="bad">{faults.chosen}</Notice>}
    </fieldset>
  );
}

function LifetimeChoice({ draft, onChange }: PartProps) {
  return (
    <Field label="Lasts">
      {(control) => (
        <select
          {...control}
          value={draft.lifetime}
          onChange={(event) => onChange({ lifetime: event.target.value })}
        >
          {LIFETIMES.map(({ label }) => (
            <option key={label}>{label}</option>
          ))}
        </select>
      )}
    </Field>
  );
}
