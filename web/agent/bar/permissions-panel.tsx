import type { Permissions, SafetyMode } from "#contract/agent/spec.ts";
import { useAgent, useTalk } from "#web/agent/agent-context.ts";
import { lifeOf } from "#web/agent/life.ts";
import { useAction } from "#web/agent/use-action.ts";
import { useApp } from "#web/app/context.ts";
import { Field } from "#web/ui/field.tsx";
import { Notice } from "#web/ui/notice.tsx";
import { Isolated } from "#web/ui/revealed.tsx";
import css from "./bar.module.css";

const modes: readonly { readonly value: SafetyMode; readonly words: string }[] = [
  { value: "strict", words: "strict: asks before every call" },
  { value: "balanced", words: "balanced: asks unless a call only reads" },
  { value: "restricted", words: "restricted: only reads, never asks" },
  { value: "autonomous", words: "autonomous: does everything without asking" },
];

/** What happens to its calls: patterns first, the session's before the team's, then the safety mode. */
export function PermissionsPanel() {
  const { client } = useApp();
  const { session, mayAct } = useAgent();
  const { team, session: own, safety } = useTalk((talk) => talk.permissions);
  const changing = useAction();
  const { session_id } = session;
  const change = (mode: string) => {
    const chosen = modes.find(({ value }) => value === mode)?.value;
    if (chosen !== undefined)
      void changing.run(() => client.call("agent.permit", { session_id, safety: chosen }));
  };
  return (
    <div className={css.panel}>
      {changing.problem === undefined ? null : <Notice tone="bad">{changing.problem}</Notice>}
      <Field
        label="Calls that no pattern names"
        hint="It holds for this session, from the next call on."
      >
        {(control) => (
          <select
            {...control}
            value={safety}
            disabled={!mayAct || changing.isBusy || lifeOf(session) === "closed"}
            onChange={(event) => change(event.currentTarget.value)}
          >
            {modes.map(({ value, words }) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Patterns title="Of this session" permissions={own} />
      <Patterns title="Of the team" permissions={team} />
    </div>
  );
}

const kinds = [
  ["deny", "Never"],
  ["ask", "Asks first"],
  ["allow", "Without asking"],
] as const;

function Patterns({
  title,
  permissions,
}: {
  readonly title: string;
  readonly permissions: Permissions;
}) {
  const lists = kinds.filter(([kind]) => (permissions[kind] ?? []).length > 0);
  return (
    <section className={css.toolset} aria-label={title}>
      <h3>{title}</h3>
      {lists.length === 0 ? <p className={css.soft}>No patterns.</p> : null}
      {lists.map(([kind, words]) => (
        <div key={kind} className={css.patterns}>
          <strong>{words}</strong>
          <ul>
            {permissions[kind]?.map((pattern) => (
              <li key={pattern}>
                <code>
                  <Isolated text={pattern} reading="decision" />
                </code>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}
