import { useId, useState } from "react";
import type { ApprovalDecision } from "#contract/agent/events.ts";
import type { PendingApproval } from "#contract/agent/views.ts";
import { limits } from "#contract/limits.ts";
import { useAgent } from "#web/agent/agent-context.ts";
import { CallInput } from "#web/agent/talk/call-input.tsx";

import { useApp } from "#web/app/context.ts";
import { Button } from "#web/ui/button.tsx";
import { Icon } from "#web/ui/icons.tsx";
import css from "./ask.module.css";
import { useAnswer } from "./use-answer.ts";

/** Whether it may. Everything that would be done is shown, because nobody allows what he has not seen. */
export function ApprovalForm({ approval }: { readonly approval: PendingApproval }) {
  const { client } = useApp();
  const { session, mayAct } = useAgent();
  const answering = useAnswer();
  const titleId = useId();
  const { approval_id, kind, tool, input, message, agent = "The agent" } = approval;
  const answer = (decision: ApprovalDecision, reason?: string) =>
    void answering.run(() =>
      client.call("agent.resume", {
        ...{ session_id: session.session_id, approval_id, decision },
        ...(reason === undefined || reason === "" ? {} : { reason }),
      }),
    );
  const title = kind === "tool" ? `${agent} wants to use ${tool ?? "a tool"}` : `${agent} asks`;
  return (
    <form
      className={css.form}
      aria-labelledby={titleId}
      onSubmit={(event) => event.preventDefault()}
    >
      <h2 id={titleId}>
        <Icon name="shield" /> {title}
      </h2>
      <p className={css.message}>{message}</p>
      {tool === undefined ? null : (
        <div className={css.input}>
          <CallInput tool={tool} input={input} />
        </div>
      )}
      {mayAct ? (
        <Decisions kind={kind} isBusy={answering.isBusy} onDecide={answer} />
      ) : (
        <p className={css.message}>Somebody with the role operator has to answer this.</p>
      )}
      {answering.problem === undefined ? null : (
        <p className={css.problem} role="alert">
          {answering.problem}
        </p>
      )}
    </form>
  );
}

interface DecisionsProps {
  readonly kind: PendingApproval["kind"];
  readonly isBusy: boolean;
  readonly onDecide: (decision: ApprovalDecision, reason?: string) => void;
}

function Decisions({ kind, isBusy, onDecide }: DecisionsProps) {
  const [reason, setReason] = useState("");
  const isTool = kind === "tool";
  const yes = (decision: ApprovalDecision, words: string) => (
    <Button
      tone={decision === "approve" ? "primary" : "plain"}
      disabled={isBusy}
      onClick={() => onDecide(decision)}
    >
      {words}
    </Button>
  );
  return (
    <div className={css.decisions}>
      <div className={css.buttons}>
        {yes("approve", isTool ? "Approve once" : "Go on")}
        {isTool ? yes("approve_tool", "Approve this tool") : null}
        {isTool ? yes("approve_session", "Approve for the session") : null}
      </div>
      <div className={css.reject}>
        <input
          aria-label="Reason for rejecting"
          placeholder="Reason, told to the agent"
          value={reason}
          maxLength={limits.detail_chars}
          onChange={(event) => setReason(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
            event.preventDefault();
            onDecide("reject", reason.trim());
          }}
        />
        <Button tone="danger" disabled={isBusy} onClick={() => onDecide("reject", reason.trim())}>
          {isTool ? "Reject" : "Stop here"}
        </Button>
      </div>
    </div>
  );
}
