import { mayDo, useApp } from "#web/app/context.ts";
import { formatRoute } from "#web/app/router.ts";
import type { ListChoice } from "#web/sessions/session-rows.ts";
import { Button } from "#web/ui/button.tsx";
import { Icon, type IconName } from "#web/ui/icons.tsx";
import { Empty } from "#web/ui/notice.tsx";
import css from "./empty-list.module.css";
import { chooseList, everything, isNarrowed } from "./list-choice.ts";

const STARTS = [
  { kind: "shell", icon: "terminal", label: "Open a shell" },
  { kind: "command", icon: "command", label: "Run a command" },
  { kind: "agent", icon: "agent", label: "Start an agent" },
] as const satisfies readonly { kind: string; icon: IconName; label: string }[];

/** Nobody has started anything yet, or all of it was removed. */
export function EmptyList() {
  const { identity } = useApp();
  return (
    <Empty icon="reins" title="Nothing runs yet">
      <p>
        {mayDo(identity, "operator")
          ? "Start something here: it goes on when you close this page, and you can always come back to it."
          : "You may look on here. What somebody starts is shown at once."}
      </p>
      {mayDo(identity, "operator") ? (
        <div className={css.starts}>
          {STARTS.map(({ kind, icon, label }) => (
            <a key={kind} className={css.start} href={formatRoute({ name: "new", kind })}>
              <Icon name={icon} size={24} />
              {label}
            </a>
          ))}
        </div>
      ) : null}
      <p>Or in a terminal on this machine:</p>
      <pre className={css.lines}>
        <b>reins run</b>
        {"                 a shell\n"}
        <b>reins run -- make -j4</b>
        {"     a command\n"}
        <b>reins run team.yaml</b>
        {"       an agent"}
      </pre>
    </Empty>
  );
}

/** There are sessions, but none of those that were asked for. */
export function NothingFound({ choice }: { readonly choice: ListChoice }) {
  const { search, phase } = choice;
  const title =
    search.trim() === "" && phase === "asking" ? "You’re all caught up" : "No matching sessions";
  return (
    <Empty icon={phase === "asking" ? "check" : "search"} title={title}>
      {search.trim() === "" ? null : <p>Nothing was found for “{search.trim()}”.</p>}
      {isNarrowed(choice) ? (
        <Button onClick={() => chooseList({ ...everything, order: choice.order })}>
          Show all sessions
        </Button>
      ) : null}
    </Empty>
  );
}
