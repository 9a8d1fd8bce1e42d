import { useAgent, useTalk } from "#web/agent/agent-context.ts";
import { lifeOf } from "#web/agent/life.ts";
import { ApprovalForm } from "./approval-form.tsx";
import css from "./ask.module.css";
import { QuestionForm } from "./question-form.tsx";

/** What the agent waits for, right above the composer: it cannot be missed. */
export function Pinned({ onAnswered }: { readonly onAnswered: () => void }) {
  const { session } = useAgent();
  const isCut = useTalk((talk) => talk.status.is_cut);
  const approvals = useTalk((talk) => talk.approvals);
  const elicitations = useTalk((talk) => talk.elicitations);
  if (isCut || lifeOf(session) === "closed") return null;
  if (approvals.length + elicitations.length === 0) return null;
  return (
    <section
      className={css.pinned}
      data-scroller
      aria-label="The agent needs an answer"
      aria-live="polite"
    >
      {approvals.map((approval) => (
        <ApprovalForm key={approval.approval_id} approval={approval} onAnswered={onAnswered} />
      ))}
      {elicitations.map((question) => (
        <QuestionForm key={question.elicitation_id} question={question} onAnswered={onAnswered} />
      ))}
    </section>
  );
}
