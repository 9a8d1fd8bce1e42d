import { sayFault } from "#web/live/page-client.ts";
import { Notice } from "#web/ui/notice.tsx";
import { listTeamProblems } from "./fault-place.ts";
import css from "./team-field.module.css";

/** What keeps a team from being started, with the places in its file. */
export function TeamProblems({ error }: { readonly error: unknown }) {
  if (error === undefined) return null;
  const problems = listTeamProblems(error);
  if (problems.length === 0) return <Notice tone="bad">{sayFault(error)}</Notice>;
  return (
    <Notice tone="bad">
      <p>This team cannot be started:</p>
      <ul className={css.problems}>
        {problems.map(({ place, message }) => (
          <li key={`${place} ${message}`}>
            <code>{place}</code> {message}
          </li>
        ))}
      </ul>
    </Notice>
  );
}
