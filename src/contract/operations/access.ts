import * as z from "zod";
import { TokenId, WorkspaceId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { Role, Token, UserId, WorkspaceScope } from "#contract/token.ts";
import { Name } from "#contract/workspace.ts";
import { AuditAction, AuditEntry } from "./audit.ts";
import { Done, ListPage, type OperationSpec } from "./operation-spec.ts";

/** Who a caller is. */
export const Identity = z.strictObject({
  user_id: z.string(),
  role: Role,
  workspaces: WorkspaceScope,
  expires_at: z.iso.datetime().nullable(),
});
export type Identity = z.infer<typeof Identity>;

export const accessOperations = {
  "caller.get": {
    http: "GET /v1/me",
    summary: "Say who the caller is and what it may do.",
    role: "viewer",
    answers: "json",
    runs: "gateway",
    input: z.strictObject({}),
    output: z.strictObject({
      ...Identity.shape,
      /** Where a session of this caller starts that is not told where. */
      work_dir: z.string(),
    }),
    faults: [],
  },
  "caller.logout": {
    http: "POST /v1/logout",
    summary: "End the browser's cookie, and what is open by it; a token goes on.",
    role: "viewer",
    answers: "json",
    runs: "gateway",
    input: z.strictObject({}),
    output: Done,
    faults: [],
  },
  "token.create": {
    http: "POST /v1/tokens",
    summary: "Make a token; its secret is shown this once.",
    role: "admin",
    answers: "json",
    runs: "gateway",
    status: 201,
    input: z.strictObject({
      label: Name.optional(),
      user_id: UserId,
      role: Role,
      workspaces: WorkspaceScope.optional(),
      expires_in_ms: z.int().min(1).max(limits.duration_ms).optional(),
    }),
    output: z.strictObject({ ...Token.shape, secret: z.string() }),
    faults: ["invalid_request", "forbidden", "workspace_not_found", "too_many"],
  },
  "token.list": {
    http: "GET /v1/tokens",
    summary: "List tokens without their secrets, the newest first.",
    role: "admin",
    answers: "json",
    runs: "gateway",
    input: z.strictObject({ ...ListPage, user_id: UserId.optional() }),
    output: z.strictObject({ tokens: z.array(Token), cursor: z.string().nullable() }),
    faults: ["invalid_request"],
  },
  "token.revoke": {
    http: "DELETE /v1/tokens/:token_id",
    summary: "End a token at once, with every browser that came by it.",
    role: "admin",
    answers: "json",
    runs: "gateway",
    input: z.strictObject({ token_id: TokenId }),
    output: Done,
    faults: ["token_not_found"],
  },
  "ticket.create": {
    http: "POST /v1/tickets",
    summary: "Make a single-use ticket that lets a browser in.",
    role: "viewer",
    answers: "json",
    runs: "gateway",
    status: 201,
    input: z.strictObject({}),
    output: z.strictObject({ ticket: z.string(), expires_at: z.iso.datetime() }),
    faults: ["too_many"],
  },
  "ticket.exchange": {
    http: "POST /v1/tickets/exchange",
    summary: "Give a ticket for a cookie.",
    role: "anyone",
    answers: "json",
    runs: "gateway",
    input: z.strictObject({ ticket: z.string().min(1).max(limits.label_chars) }),
    output: Identity,
    faults: ["unauthenticated", "too_many"],
  },
  "audit.list": {
    http: "GET /v1/audit",
    summary: "Who did what, the newest first.",
    role: "admin",
    answers: "json",
    runs: "gateway",
    input: z.strictObject({
      ...ListPage,
      workspace_id: WorkspaceId.optional(),
      user_id: UserId.optional(),
      action: AuditAction.optional(),
      target_id: z.string().max(limits.label_chars).optional(),
    }),
    output: z.strictObject({ entries: z.array(AuditEntry), cursor: z.string().nullable() }),
    faults: ["invalid_request", "workspace_not_found"],
  },
} as const satisfies Record<string, OperationSpec>;
