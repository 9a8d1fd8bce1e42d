import { useId, useMemo, useRef, useState } from "react";
import type { ApprovalDecision } from "#contract/agent/events.ts";
import type { PendingApproval } from "#contract/agent/views.ts";
import { limits } from "#contract/limits.ts";
import { useAgent } from "#web/agent/agent-context.ts";
import { CallInput, hasFolds } from "#web/agent/talk/call-input.tsx";
import { useApp } from "#web/app/context.ts";
import { Button } from "#web/ui/button.tsx";
import { Icon } from "#web/ui/icons.tsx";
import { HiddenWarning, Isolated, Revealed } from "#web/ui/revealed.tsx";
import { allowToolWords, titleOf } from "./approval-words.ts";
import css from "./ask.module.css";
import { useAnswer } from "./use-answer.ts";
import { type Reach, useReach } from "./use-reach.ts";

interface ApprovalFormProps {
  readonly approval: PendingApproval;
  readonly onAnswered: () => void;
}

/** Whether a call may run. It can be approved once all of it could be read; it can be rejected at any time. */
export function ApprovalForm({ approval, onAnswered }: ApprovalFormProps) {
  const { client } = useApp();
  const { session, mayAct } = useAgent();
  const answering = useAnswer();
  const titleId = useId();
  const [content, row] = [useRef<HTMLDivElement>(null), useRef<HTMLDivElement>(null)];
  const reach = useReach({ content, row });
  const [isWhole, setWhole] = useState(false);
  const { approval_id, kind, tool = "", input, message, agent } = approval;
  const isLong = useMemo(() => hasFolds(tool, input), [tool, input]);
  const isFolded = isLong && !isWhole;
  const answer = async (decision: ApprovalDecision, reason = "") => {
    const given = { session_id: session.session_id, approval_id, decision };
    const sent = reason === "" ? given : { ...given, reason };
    if (await answering.run(() => client.call("agent.resume", sent))) onAnswered();
  };
  const deciding = {
    isBusy: answering.isBusy,
    isUnread: isFolded || !reach.isSeen,
    onDecide: (decision: ApprovalDecision, reason?: string) => void answer(decision, reason),
  };
  return (
    <form
      className={css.form}
      aria-labelledby={titleId}
      onSubmit={(event) => event.preventDefault()}
    >
      <div ref={content} className={css.content}>
        <h2 id={titleId}>
          <Icon name="shield" />
          <Isolated text={titleOf(approval)} reading="decision" />
          {agent === undefined ? null : (
            <small>
              <Isolated text={agent} reading="decision" />
            </small>
          )}
        </h2>
        <HiddenWarning value={[tool, input, message]} />
        <p className={css.message} dir="auto">
          <Revealed text={message} reading="decision" />
        </p>
        {approval.tool === undefined ? null : (
          <div className={css.input}>
            <CallInput tool={tool} input={input} isFolded={isFolded} />
          </div>
        )}
      </div>
      {mayAct && kind === "tool" ? <Standing approval={approval} {...deciding} /> : null}
      <div ref={row} className={css.row}>
        {mayAct ? (
          <>
            <Unread isFolded={isFolded} reach={reach} onShowAll={() => setWhole(true)} />
            <Decisions approval={approval} {...deciding} />
          </>
        ) : (
          <p className={css.message}>Only an operator can answer this.</p>
        )}
        {answering.problem === undefined ? null : (
          <p className={css.problem} role="alert">
            {answering.problem}
          </p>
        )}
      </div>
    </form>
  );
}

interface UnreadProps {
  readonly isFolded: boolean;
  readonly reach: Reach;
  readonly onShowAll: () => void;
}

/** Why it cannot be approved yet, and the button that changes it. */
function Unread({ isFolded, reach, onShowAll }: UnreadProps) {
  if (!isFolded && reach.isSeen) return null;
  return (
    <p className={css.unread}>
      <span>
        {isFolded ? "Show all of it before you approve." : "Read to the end before you approve."}
      </span>
      <Button size="small" icon="down" onClick={isFolded ? onShowAll : reach.readOn}>
        {isFolded ? "Show all" : "Scroll down"}
      </Button>
    </p>
  );
}

interface DecisionsProps {
  readonly approval: PendingApproval;
  readonly isBusy: boolean;
  readonly isUnread: boolean;
  readonly onDecide: (decision: ApprovalDecision, reason?: string) => void;
}

/** Approvals of more than this call. */
function Standing({ approval, isBusy, isUnread, onDecide }: DecisionsProps) {
  const yes = (decision: ApprovalDecision, words: string) => (
    <Button size="small" disabled={isBusy || isUnread} onClick={() => onDecide(decision)}>
      {words}
    </Button>
  );
  return (
    <div className={css.buttons}>
      {yes("approve_tool", allowToolWords(approval))}
      {yes("approve_session", "Allow everything this session")}
    </div>
  );
}

function Decisions({ approval, isBusy, isUnread, onDecide }: DecisionsProps) {
  const [reason, setReason] = useState("");
  const isTool = approval.kind === "tool";
  const reject = () => onDecide("reject", reason.trim());
  return (
    <div className={css.decisions}>
      <Button tone="primary" disabled={isBusy || isUnread} onClick={() => onDecide("approve")}>
        {isTool ? "Approve once" : "Continue"}
      </Button>
      <Button tone="danger" disabled={isBusy} onClick={reject}>
        {isTool ? "Reject" : "Stop here"}
      </Button>
      <input
        aria-label="Reason for rejecting"
        placeholder="Tell the agent why (optional)"
        value={reason}
        maxLength={limits.detail_chars}
        onChange={(event) => setReason(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
          event.preventDefault();
          reject();
        }}
      />
    </div>
  );
}
