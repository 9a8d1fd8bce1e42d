import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Operations } from "#contract/operations.ts";
import { type Token, WorkspaceScope } from "#contract/token.ts";
import { isTokenSecret } from "#store/secret.ts";
import type { Store } from "#store/store.ts";
import type { TokenRow } from "#store/tokens.ts";
import { type Audit, onlyWorkspace } from "./audit.ts";
import { type Caller, maySee, workspaceNotFound } from "./caller.ts";

export type TokenOperations = Pick<
  Operations,
  "caller.get" | "caller.logout" | "token.create" | "token.list" | "token.revoke"
>;

interface TokenDeps {
  readonly store: Pick<Store, "tokens">;
  readonly audit: Audit;
}

export function createTokenOperations(
  { store, audit }: TokenDeps,
  caller: Caller,
): TokenOperations {
  const { tokens } = store;
  return {
    "caller.get": async () => {
      const { user_id = "local", role, workspaces, token_id } = caller;
      const token = token_id === undefined ? undefined : tokens.findById(token_id);
      const expires_at = token?.expires_at ?? null;
      return { user_id, role, workspaces, expires_at, work_dir: caller.where.work_dir };
    },
    "caller.logout": async () => {
      const { cookie_id, token_id, workspaces } = caller;
      if (cookie_id === undefined || !tokens.endCookie(cookie_id)) return {};
      const workspace_id = onlyWorkspace(workspaces);
      audit.record({ action: "caller.logged_out", caller, workspace_id, target_id: token_id });
      return {};
    },
    "token.create": async ({ label = "", user_id, role, workspaces, expires_in_ms }) => {
      const scope = chooseScope(caller, workspaces);
      const content = { label, user_id, role, workspaces: scope };
      const { token, secret } = tokens.create({ ...content, expires_in_ms });
      audit.record({
        action: "token.created",
        caller,
        workspace_id: onlyWorkspace(scope),
        target_id: token.token_id,
        details: { user_id, role, workspaces: scope === "*" ? scope : scope.join(" ") },
      });
      return { ...describeToken(token), secret };
    },
    "token.list": async ({ limit = limits.list_default, ...query }) => {
      const page = tokens.list({ ...query, limit, workspaces: caller.workspaces });
      return { tokens: page.rows.map(describeToken), cursor: page.cursor };
    },
    "token.revoke": async ({ token_id }) => {
      const token = tokens.findById(token_id);
      const isHis = token !== undefined && covers(caller.workspaces, token.workspaces);
      // Cookies are no tokens of their own to anybody: the store revokes roots.
      if (!isHis || !tokens.revoke(token_id)) throw tokenNotFound(token_id);
      audit.record({
        action: "token.revoked",
        caller,
        workspace_id: onlyWorkspace(token.workspaces),
        target_id: token_id,
        details: { user_id: token.user_id },
      });
      return {};
    },
  };
}

/** Who comes with this secret; undefined when it is unknown, revoked or expired. */
export function findIdentity(store: Pick<Store, "tokens">, secret: string): TokenRow | undefined {
  return isTokenSecret(secret) ? store.tokens.find(secret) : undefined;
}

function chooseScope(caller: Caller, named: "*" | readonly string[] | undefined): WorkspaceScope {
  if (named === undefined) return caller.workspaces;
  if (named === "*" && caller.workspaces !== "*")
    throw new Fault("forbidden", "only who sees every workspace may give that to others");
  if (named === "*") return named;
  const foreign = named.find((id) => !maySee(caller, id));
  if (foreign !== undefined) throw workspaceNotFound(foreign);
  return WorkspaceScope.parse(named);
}

function covers(outer: WorkspaceScope, inner: WorkspaceScope): boolean {
  if (outer === "*") return true;
  return inner !== "*" && inner.every((id) => outer.includes(id));
}

function describeToken(row: TokenRow): Token {
  const { kind: _kind, parent_token_id: _parent, root_token_id: _root, ...token } = row;
  return token;
}

function tokenNotFound(tokenId: string): Fault {
  return new Fault("token_not_found", `there is no token ${tokenId}`, {
    details: { token_id: tokenId },
  });
}
