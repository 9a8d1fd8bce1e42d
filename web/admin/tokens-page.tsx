import { useCallback, useMemo, useState } from "react";
import type { CallOptions } from "#client/client.ts";
import { revealHidden } from "#contract/text/hidden-characters.ts";
import type { Token } from "#contract/token.ts";
import { defined } from "#contract/values/defined.ts";
import { useApp } from "#web/app/context.ts";
import { sayFault } from "#web/live/page-client.ts";
import { Badge } from "#web/ui/badge.tsx";
import { Button } from "#web/ui/button.tsx";
import { Dialog } from "#web/ui/dialog.tsx";
import { formatMoment } from "#web/ui/format.ts";
import { Empty, Notice } from "#web/ui/notice.tsx";
import { Isolated } from "#web/ui/revealed.tsx";
import css from "./admin.module.css";
import { AdminPage, ListEnd } from "./admin-page.tsx";
import { SecretDialog } from "./secret-dialog.tsx";
import { TokenForm } from "./token-form.tsx";
import { isEndingSoon, sayScope } from "./token-words.ts";
import { usePages } from "./use-pages.ts";
import { useWorkspaces } from "./use-workspaces.ts";

type Front =
  | { readonly kind: "nothing" }
  | { readonly kind: "form" }
  | { readonly kind: "secret"; readonly token: Token; readonly secret: string }
  | { readonly kind: "revoke"; readonly token: Token };

const PAGE_SIZE = 100;
const NOTHING: Front = { kind: "nothing" };

/** Who may come in by a secret of his own. */
export function TokensPage() {
  const { client, identity } = useApp();
  const [front, setFront] = useState<Front>(NOTHING);
  const ask = useCallback(
    async (cursor: string | undefined, options: CallOptions) => {
      const input = { limit: PAGE_SIZE, ...defined({ cursor }) };
      const { tokens, cursor: next } = await client.call("token.list", input, options);
      return { rows: tokens, cursor: next };
    },
    [client],
  );
  const pages = usePages(ask);
  const isNothing = pages.rows.length === 0 && !pages.isBusy && pages.error === undefined;
  const close = () => setFront(NOTHING);
  return (
    <AdminPage
      title="Tokens"
      lead={
        <>
          A token lets a program or a person in, with a role. Browsers that came by one are not
          listed; they end with it.
          {identity.workspaces === "*" ? "" : " You see those of your own workspaces."}
        </>
      }
      action={
        <Button tone="primary" icon="plus" onClick={() => setFront({ kind: "form" })}>
          New token
        </Button>
      }
    >
      {isNothing ? (
        <Empty icon="key" title="There is no token yet">
          Make one for whoever should come in.
        </Empty>
      ) : null}
      {pages.rows.length === 0 ? null : (
        <TokenTable tokens={pages.rows} onRevoke={(token) => setFront({ kind: "revoke", token })} />
      )}
      <ListEnd pages={pages} what="the tokens" />
      <InFront front={front} onFront={setFront} onClose={close} onChange={pages.again} />
    </AdminPage>
  );
}

interface InFrontProps {
  readonly front: Front;
  readonly onFront: (front: Front) => void;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

function InFront({ front, onFront, onClose, onChange }: InFrontProps) {
  switch (front.kind) {
    case "nothing":
      return null;
    case "form":
      return (
        <TokenForm
          onClose={onClose}
          onMade={({ secret, ...token }) => {
            onFront({ kind: "secret", token, secret });
            onChange();
          }}
        />
      );
    case "secret":
      return <SecretDialog token={front.token} secret={front.secret} onClose={onClose} />;
    case "revoke":
      return (
        <RevokeDialog
          token={front.token}
          onClose={onClose}
          onRevoked={() => {
            onClose();
            onChange();
          }}
        />
      );
  }
}

interface TokenTableProps {
  readonly tokens: readonly Token[];
  readonly onRevoke: (token: Token) => void;
}

function TokenTable({ tokens, onRevoke }: TokenTableProps) {
  const { workspaces } = useWorkspaces();
  const names = useMemo(
    () => new Map(workspaces.map(({ workspace_id, name }) => [workspace_id as string, name])),
    [workspaces],
  );
  return (
    <table className={css.table}>
      <caption className="visually-hidden">Tokens, the newest first</caption>
      <thead>
        <tr>
          <th scope="col">Token</th>
          <th scope="col">For</th>
          <th scope="col">Role</th>
          <th scope="col">Sees</th>
          <th scope="col">Last used</th>
          <th scope="col">Ends</th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {tokens.map((token) => (
          <TokenRow key={token.token_id} token={token} names={names} onRevoke={onRevoke} />
        ))}
      </tbody>
    </table>
  );
}

interface TokenRowProps {
  readonly token: Token;
  readonly names: ReadonlyMap<string, string>;
  readonly onRevoke: (token: Token) => void;
}

function TokenRow({ token, names, onRevoke }: TokenRowProps) {
  const { token_id, label, user_id, role, created_at, expires_at, last_used_at } = token;
  return (
    <tr>
      <td title={`made ${formatMoment(created_at)}`}>
        <span className={css.strong}>
          <Isolated text={label === "" ? "no label" : label} reading="decision" />
        </span>
        <br />
        <code className={css.faint}>{token_id}</code>
      </td>
      <td data-label="For">
        <Isolated text={user_id} reading="decision" />
      </td>
      <td data-label="Role">
        <Badge tone={role === "admin" ? "warn" : "neutral"}>{role}</Badge>
      </td>
      <td data-label="Sees">{sayScope(token, names)}</td>
      <td data-label="Last used">{last_used_at === null ? "never" : formatMoment(last_used_at)}</td>
      <td data-label="Ends">
        {expires_at === null ? "when it is revoked" : formatMoment(expires_at)}{" "}
        {isEndingSoon(token, Date.now()) ? <Badge tone="warn">soon</Badge> : null}
      </td>
      <td className={css.act}>
        <Button
          size="small"
          tone="danger"
          aria-label={`Revoke ${revealHidden(label === "" ? token_id : label, "decision")}`}
          onClick={() => onRevoke(token)}
        >
          Revoke
        </Button>
      </td>
    </tr>
  );
}

interface RevokeDialogProps {
  readonly token: Token;
  readonly onClose: () => void;
  readonly onRevoked: () => void;
}

function RevokeDialog({ token, onClose, onRevoked }: RevokeDialogProps) {
  const { client, toasts } = useApp();
  const [error, setError] = useState<unknown>();
  const [isBusy, setIsBusy] = useState(false);
  const { token_id, label, user_id } = token;
  const revoke = async () => {
    setIsBusy(true);
    try {
      await client.call("token.revoke", { token_id });
      toasts.add("good", `The token of ${user_id} is revoked.`);
      onRevoked();
    } catch (fault) {
      setError(fault);
      setIsBusy(false);
    }
  };
  return (
    <Dialog title="Revoke this token?" onClose={onClose}>
      <div className={css.stack}>
        <p>
          <strong>
            <Isolated text={label === "" ? token_id : label} reading="decision" />
          </strong>{" "}
          of <Isolated text={user_id} reading="decision" /> ends at once, with every browser that
          came by it, and cannot be brought back. Sessions that were started with it go on. If you
          came in by it yourself, you are out.
        </p>
        {error === undefined ? null : <Notice tone="bad">{sayFault(error)}</Notice>}
        <div className={css.buttons}>
          <Button tone="danger" disabled={isBusy} onClick={() => void revoke()}>
            Revoke the token
          </Button>
          <Button onClick={onClose}>Keep it</Button>
        </div>
      </div>
    </Dialog>
  );
}
