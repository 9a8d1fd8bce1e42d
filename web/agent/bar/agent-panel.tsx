import { useAgent, useTalk } from "#web/agent/agent-context.ts";
import { useAction } from "#web/agent/use-action.ts";
import { useApp } from "#web/app/context.ts";
import { Notice } from "#web/ui/notice.tsx";
import { Isolated } from "#web/ui/revealed.tsx";
import css from "./bar.module.css";

/** The agents of the team; choosing one lets it go on with this conversation. */
export function AgentPanel({ onDone }: { readonly onDone: () => void }) {
  const { client } = useApp();
  const { session, mayAct } = useAgent();
  const agents = useTalk((talk) => talk.agents);
  const current = useTalk((talk) => talk.agent);
  const switching = useAction();
  const choose = async (name: string) => {
    const { session_id } = session;
    const isDone = await switching.run(() => client.call("agent.switch", { session_id, name }));
    if (isDone) onDone();
  };
  return (
    <div className={css.panel}>
      {switching.problem === undefined ? null : <Notice tone="bad">{switching.problem}</Notice>}
      {agents.length < 2 ? <p className={css.soft}>The team has only this agent.</p> : null}
      <ul className={css.choices}>
        {agents.map(({ name, description, model }) => (
          <li key={name}>
            <button
              type="button"
              aria-pressed={name === current}
              disabled={!mayAct || switching.isBusy || name === current}
              onClick={() => void choose(name)}
            >
              <strong>
                <Isolated text={name} reading="decision" />
              </strong>
              {name === current ? <em>active</em> : null}
              <span>
                <Isolated text={description} reading="prose" />
              </span>
              <code>
                <Isolated text={model} reading="decision" />
              </code>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
