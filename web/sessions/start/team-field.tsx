import { limits } from "#contract/limits.ts";
import type { OperationOutput } from "#contract/operations.ts";
import { sayFault } from "#web/live/page-client.ts";
import type { Called } from "#web/live/use-call.ts";
import { Badge } from "#web/ui/badge.tsx";
import { Field } from "#web/ui/field.tsx";
import { Loading, Notice } from "#web/ui/notice.tsx";
import { Isolated } from "#web/ui/revealed.tsx";
import { RadioCard } from "./form-parts.tsx";
import type { Problems, TeamChoice } from "./start-input.ts";
import css from "./team-field.module.css";

type TeamList = OperationOutput<"team.list">;

interface TeamFieldProps {
  readonly teams: Called<TeamList>;
  readonly value: TeamChoice | undefined;
  readonly onChange: (team: TeamChoice) => void;
  readonly problems: Problems;
}

/** One that the server knows by name, or a file on it. */
export function TeamField({ teams, value, onChange, problems }: TeamFieldProps) {
  const path = value?.kind === "path" ? value.path : "";
  return (
    <fieldset className={css.teams}>
      <legend>Team</legend>
      <div className={css.cards}>
        <TeamCards teams={teams} value={value} onChange={onChange} />
      </div>
      <RadioCard
        name="team"
        label="A team file"
        note="By its path on the server."
        isChecked={value?.kind === "path"}
        onChoose={() => onChange({ kind: "path", path })}
      />
      {value?.kind === "path" ? (
        <Field label="Path of the team file" error={problems.path}>
          {(control) => (
            <input
              {...control}
              className={`${control.className} ${css.path}`}
              value={path}
              maxLength={limits.path_bytes}
              autoCapitalize="none"
              spellCheck={false}
              placeholder="/home/me/team.yaml"
              onChange={(event) => onChange({ kind: "path", path: event.target.value })}
            />
          )}
        </Field>
      ) : null}
      {problems.team === undefined ? null : <Notice tone="bad">{problems.team}</Notice>}
    </fieldset>
  );
}

function TeamCards({ teams, value, onChange }: Omit<TeamFieldProps, "problems">) {
  if (teams.value === undefined)
    return teams.error === undefined ? (
      <Loading what="Looking for teams" />
    ) : (
      <Notice tone="bad">{sayFault(teams.error)}</Notice>
    );
  return teams.value.teams.map(({ name, description, problem, example }) => (
    <RadioCard
      key={name}
      name="team"
      label={name}
      badge={
        problem === undefined ? (
          example === true ? (
            <Badge>example</Badge>
          ) : null
        ) : (
          <Badge tone="bad">has a mistake</Badge>
        )
      }
      note={<Isolated text={problem ?? (description || "No description.")} reading="prose" />}
      isChecked={value?.kind === "name" && value.name === name}
      onChoose={() => onChange({ kind: "name", name })}
    />
  ));
}
