import { type ReactNode, useState } from "react";
import { Button } from "#web/ui/button.tsx";
import { Field } from "#web/ui/field.tsx";
import css from "./admin.module.css";
import { ACTION_WORDS, type AuditFilter, NO_FILTER } from "./audit-words.ts";
import { useWorkspaces } from "./use-workspaces.ts";

const TEXT_CHARS = 200;

export function AuditFilters({ onFilter }: { readonly onFilter: (filter: AuditFilter) => void }) {
  const [draft, setDraft] = useState(NO_FILTER);
  const { workspaces } = useWorkspaces();
  const text = (name: "user_id" | "target_id", label: string) => (
    <Field label={label}>
      {(control) => (
        <input
          {...control}
          autoComplete="off"
          spellCheck={false}
          maxLength={TEXT_CHARS}
          value={draft[name]}
          onChange={(event) => setDraft({ ...draft, [name]: event.target.value })}
        />
      )}
    </Field>
  );
  /** A choice counts at once, what is typed when it is sent. */
  const choice = (name: "action" | "workspace_id", label: string, options: ReactNode) => (
    <Field label={label}>
      {(control) => (
        <select
          {...control}
          value={draft[name]}
          onChange={(event) => {
            const next = { ...draft, [name]: event.target.value };
            setDraft(next);
            onFilter(next);
          }}
        >
          <option value="">All</option>
          {options}
        </select>
      )}
    </Field>
  );
  return (
    <form
      className={css.filters}
      aria-label="Filter"
      onSubmit={(event) => {
        event.preventDefault();
        onFilter({ ...draft });
      }}
    >
      {text("user_id", "Who")}
      {choice("action", "What", <ActionOptions />)}
      {text("target_id", "To what (an id)")}
      {choice(
        "workspace_id",
        "Workspace",
        workspaces.map(({ workspace_id, name }) => (
          <option key={workspace_id} value={workspace_id}>
            {name}
          </option>
        )),
      )}
      <div className={css.buttons}>
        <Button type="submit" tone="primary">
          Filter
        </Button>
        <Button
          tone="quiet"
          onClick={() => {
            setDraft(NO_FILTER);
            onFilter(NO_FILTER);
          }}
        >
          Clear
        </Button>
      </div>
    </form>
  );
}

function ActionOptions() {
  return Object.entries(ACTION_WORDS).map(([action, words]) => (
    <option key={action} value={action}>
      {words}
    </option>
  ));
}
