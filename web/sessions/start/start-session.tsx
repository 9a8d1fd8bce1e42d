import { mayDo, useApp } from "#web/app/context.ts";
import { formatRoute } from "#web/app/router.ts";
import { Icon, type IconName } from "#web/ui/icons.tsx";
import { Empty } from "#web/ui/notice.tsx";
import { AgentForm } from "./agent-form.tsx";
import { CommandForm } from "./command-form.tsx";
import { ShellForm } from "./shell-form.tsx";
import css from "./start-session.module.css";
import { useWorkplace, type Workplace } from "./use-workplace.ts";

type Kind = "shell" | "command" | "agent";

const TABS: readonly { readonly kind: Kind; readonly icon: IconName; readonly label: string }[] = [
  { kind: "shell", icon: "terminal", label: "Shell" },
  { kind: "command", icon: "command", label: "Command" },
  { kind: "agent", icon: "agent", label: "Agent" },
];

/** Where something is started. */
export function NewSession({ kind }: { readonly kind: Kind }) {
  const { identity } = useApp();
  if (!mayDo(identity, "operator"))
    return (
      <>
        <h1 className="visually-hidden">New session</h1>
        <Empty icon="shield" title="You may look on, not start anything">
          <p>Your ticket came from a token for viewers. An operator may start sessions.</p>
          <a href="#/">See all sessions</a>
        </Empty>
      </>
    );
  return (
    <div className={css.page}>
      <div className={css.sheet}>
        <h1>New session</h1>
        <nav className={css.tabs} aria-label="What to start">
          {TABS.map((tab) => (
            <a
              key={tab.kind}
              href={formatRoute({ name: "new", kind: tab.kind })}
              aria-current={tab.kind === kind ? "page" : undefined}
            >
              <Icon name={tab.icon} size={17} />
              {tab.label}
            </a>
          ))}
        </nav>
        <StartFormOf kind={kind} />
      </div>
    </div>
  );
}

const forms: Readonly<Record<Kind, (props: { workplace: Workplace }) => React.ReactNode>> = {
  shell: ShellForm,
  command: CommandForm,
  agent: AgentForm,
};

function StartFormOf({ kind }: { readonly kind: Kind }) {
  const Form = forms[kind];
  return <Form workplace={useWorkplace()} />;
}
