import { timingSafeEqual } from "node:crypto";
import * as z from "zod";
import { randomId } from "#base/random-id.ts";
import { Fault } from "#contract/fault.ts";
import { TokenId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { Role, type Token, WorkspaceScope } from "#contract/token.ts";
import {
  assertRoom,
  equals,
  type Filter,
  JsonColumn,
  listPage,
  type Page,
  type PageQuery,
  parseRow,
  type TableDeps,
} from "./page.ts";
import { createTokenSecret, hashSecret } from "./secret.ts";
import { Unchanged } from "./unchanged.ts";

/**
 *   token, local    what an administrator made, and the one of the data directory's own file: the roots
 *     └ cookie      a browser's; has its root as parent and never outlives it; in no list
 *     └ ticket      lets one browser in (tickets.ts)
 * Removing a root removes what hangs on it.
 */
export type TokenRow = Token & {
  readonly kind: "token" | "local" | "cookie";
  readonly parent_token_id: TokenId | null;
  /** Itself, or the token that a cookie came from: the one that owns what is made. */
  readonly root_token_id: TokenId;
};

export type TokenContent = Pick<Token, "label" | "user_id" | "role" | "workspaces">;
export interface MintedToken {
  readonly token: TokenRow;
  /** Shown once; only its hash is kept. */
  readonly secret: string;
}

interface TokenQuery extends PageQuery {
  /** Whole tokens: only those that reach nothing outside. */
  readonly workspaces: WorkspaceScope;
  readonly user_id?: string | undefined;
}

export interface TokenRecords {
  create(content: TokenContent & { readonly expires_in_ms?: number | undefined }): MintedToken;
  /** For a browser: the same rights, for a while. `parent` may be a cookie itself; its root counts. */
  createCookie(parent: TokenRow): MintedToken;
  /** Registers the secret of the data directory's file; the ones that were in that file before end. */
  registerLocal(secret: string, content: TokenContent): TokenRow;
  /** Undefined when it is unknown, revoked or expired. */
  find(secret: string): TokenRow | undefined;
  findById(tokenId: string): TokenRow | undefined;
  list(query: TokenQuery): Page<TokenRow>;
  /** Ends one browser's; false when there is none. */
  endCookie(tokenId: string): boolean;
  /** Ends a root with its cookies and tickets; false when there is none. */
  revoke(tokenId: string): boolean;
}

/** `last_used_at` is no more exact than this, so that a busy token does not write all the time. */
const USED_EVERY_MS = 60_000;
/** Beyond it the browser that came first is out. */
const COOKIES_PER_TOKEN = 100;

const StoredToken = z
  .object({
    token_id: TokenId,
    kind: z.enum(["token", "local", "cookie"]),
    parent_token_id: TokenId.nullable(),
    label: z.string(),
    user_id: z.string(),
    role: Role,
    workspaces: JsonColumn.pipe(WorkspaceScope),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable(),
    last_used_at: z.iso.datetime().nullable(),
  })
  .transform((row): TokenRow => ({ ...row, root_token_id: row.parent_token_id ?? row.token_id }));
const HashColumn = z.object({ secret_hash: z.instanceof(Uint8Array) });

const SELECT = `SELECT *, CASE WHEN is_everywhere THEN '"*"' ELSE
  (SELECT json_group_array(workspace_id ORDER BY rowid) FROM token_workspaces WHERE token_id = tokens.token_id)
  END AS workspaces FROM tokens`;
const IS_ALIVE = "(expires_at IS NULL OR expires_at > :now)";

export function createTokenRecords(deps: TableDeps): TokenRecords {
  const { database } = deps;
  // Every request and every frame asks for one of a few.
  const bySecret = new Unchanged<TokenRow>(database);
  const byId = new Unchanged<TokenRow>(database);
  const findById = (id: string) =>
    unlessOver(
      deps,
      byId.find(id, () => readById(deps, id)),
    );
  return {
    create: ({ expires_in_ms, ...content }) =>
      database.transaction(() => {
        sweepExpired(deps);
        const count = database.number("SELECT count(*) FROM tokens WHERE kind <> 'cookie'");
        assertRoom(count, limits.tokens, "tokens");
        const expires_at = expires_in_ms === undefined ? null : deps.later(expires_in_ms);
        return insert(deps, { ...content, kind: "token", parent_token_id: null, expires_at });
      }),
    createCookie: (parent) =>
      database.transaction(() => {
        sweepExpired(deps);
        const root = findById(parent.root_token_id);
        if (root === undefined) throw createRevokedFault();
        makeRoomForCookie(deps, root.token_id);
        return insert(deps, {
          ...root,
          kind: "cookie",
          parent_token_id: root.token_id,
          expires_at: earlier(deps.later(limits.cookie_ms), root.expires_at),
        });
      }),
    registerLocal: (secret, content) =>
      database.transaction(() => {
        // Another starter was first with the same file.
        const first = readToken(deps, hashSecret(secret));
        if (first !== undefined) return first;
        database.run("DELETE FROM tokens WHERE kind = 'local'");
        const fields = { kind: "local", parent_token_id: null, expires_at: null } as const;
        return insert(deps, { ...content, ...fields }, secret).token;
      }),
    find: (secret) => {
      const hash = hashSecret(secret);
      const kept = bySecret.find(hash.toString("base64"), () => readToken(deps, hash));
      const token = unlessOver(deps, kept);
      if (token === undefined) return undefined;
      noteUse(deps, token);
      return token;
    },
    findById,
    list: ({ workspaces, user_id, ...page }) =>
      listPage(
        deps,
        { select: SELECT, schema: StoredToken },
        {
          ...page,
          filters: [
            { sql: `kind <> 'cookie' AND ${IS_ALIVE}`, values: { now: deps.now() } },
            withinScope(workspaces),
            equals("user_id", user_id),
          ],
        },
      ),
    endCookie: (id) =>
      database.run("DELETE FROM tokens WHERE token_id = :id AND kind = 'cookie'", { id }) > 0,
    revoke: (id) =>
      database.run("DELETE FROM tokens WHERE token_id = :id AND kind <> 'cookie'", { id }) > 0,
  };
}

/** Cheap by its indexes; what hangs on a token goes along. Inside the transaction of who writes anyway. */
export function sweepExpired({ database, now }: TableDeps): void {
  database.run("DELETE FROM tickets WHERE expires_at <= :now", { now: now() });
  database.run("DELETE FROM tokens WHERE expires_at <= :now", { now: now() });
}

export function createRevokedFault(): Fault {
  return new Fault("unauthenticated", "this token is not valid any more");
}

function readToken(deps: TableDeps, hash: Buffer): TokenRow | undefined {
  const { database } = deps;
  const now = deps.now();
  const row = database.first(`${SELECT} WHERE secret_hash = :hash AND ${IS_ALIVE}`, { hash, now });
  const kept = HashColumn.safeParse(row);
  // The index has compared hashes already, which tells nothing of a secret; this one takes the same time always.
  if (!kept.success || !timingSafeEqual(kept.data.secret_hash, hash)) return undefined;
  return parseRow(deps, StoredToken, row);
}

function readById(deps: TableDeps, id: string): TokenRow | undefined {
  const now = deps.now();
  const sql = `${SELECT} WHERE token_id = :id AND ${IS_ALIVE}`;
  return parseRow(deps, StoredToken, deps.database.first(sql, { id, now }));
}

/** A row that is kept may have expired meanwhile. */
function unlessOver({ now }: TableDeps, token: TokenRow | undefined): TokenRow | undefined {
  const isOver = token !== undefined && token.expires_at !== null && token.expires_at <= now();
  return isOver ? undefined : token;
}

function noteUse({ database, now, later, log }: TableDeps, token: TokenRow): void {
  const before = later(-USED_EVERY_MS);
  if (token.last_used_at !== null && token.last_used_at > before) return;
  try {
    database.run(
      `UPDATE tokens SET last_used_at = :now WHERE token_id IN (:id, :root)
       AND (last_used_at IS NULL OR last_used_at <= :before)`,
      { id: token.token_id, root: token.root_token_id, now: now(), before },
    );
  } catch (error) {
    // A full disk must not keep anybody out.
    log.warn("the use of a token was not noted", { token_id: token.token_id, error });
  }
}

function insert(
  { database, now }: TableDeps,
  content: TokenContent & Pick<TokenRow, "kind" | "parent_token_id" | "expires_at">,
  secret = createTokenSecret(),
): MintedToken {
  const { workspaces, kind, parent_token_id, label, user_id, role, expires_at } = content;
  const token_id = TokenId.parse(randomId("tok"));
  const stored = { token_id, kind, parent_token_id, label, user_id, role, expires_at };
  const created_at = now();
  database.run(
    `INSERT INTO tokens
       (token_id, kind, parent_token_id, secret_hash, label, user_id, role, is_everywhere, created_at, expires_at)
     VALUES
       (:token_id, :kind, :parent_token_id, :hash, :label, :user_id, :role, :everywhere, :created_at, :expires_at)`,
    { ...stored, created_at, hash: hashSecret(secret), everywhere: workspaces === "*" ? 1 : 0 },
  );
  const root_token_id = parent_token_id ?? token_id;
  const scope = workspaces === "*" ? workspaces : [...new Set(workspaces)];
  if (scope !== "*") for (const id of scope) addWorkspace({ database }, token_id, id);
  return {
    token: { ...stored, root_token_id, workspaces: scope, created_at, last_used_at: null },
    secret,
  };
}

function addWorkspace({ database }: Pick<TableDeps, "database">, tokenId: TokenId, id: string) {
  const added = database.run(
    `INSERT INTO token_workspaces (token_id, workspace_id)
     SELECT :tokenId, workspace_id FROM workspaces WHERE workspace_id = :id`,
    { tokenId, id },
  );
  if (added > 0) return;
  throw new Fault("workspace_not_found", `there is no workspace ${id}`, {
    details: { workspace_id: id },
  });
}

function makeRoomForCookie({ database }: TableDeps, root: TokenId): void {
  database.run(
    `DELETE FROM tokens WHERE position IN (SELECT position FROM tokens WHERE parent_token_id = :root
     ORDER BY position DESC LIMIT -1 OFFSET :keep)`,
    { root, keep: COOKIES_PER_TOKEN - 1 },
  );
  const count = database.number("SELECT count(*) FROM tokens WHERE kind = 'cookie'");
  assertRoom(count, limits.tokens, "browsers");
}

function withinScope(workspaces: WorkspaceScope): Filter | undefined {
  if (workspaces === "*") return undefined;
  return {
    sql: `is_everywhere = 0 AND NOT EXISTS (SELECT 1 FROM token_workspaces
      WHERE token_id = tokens.token_id AND workspace_id NOT IN (SELECT value FROM json_each(:scope)))`,
    values: { scope: JSON.stringify(workspaces) },
  };
}

function earlier(a: string, b: string | null): string {
  return b !== null && b < a ? b : a;
}
