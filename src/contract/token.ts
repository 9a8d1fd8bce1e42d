import * as z from "zod";
import { TokenId, WorkspaceId } from "./ids.ts";
import { limits } from "./limits.ts";

/** Each role may do what the ones before it may: look, then act, then say who else may. */
export const Role = z.enum(["viewer", "operator", "admin"]);
export type Role = z.infer<typeof Role>;

export const UserId = z
  .string()
  .min(1)
  .max(limits.name_chars)
  .regex(/^[\w.@+-]+$/, "a user id has letters, digits and . @ + - _");

/** `*` is every workspace, also those that are made later. */
export const WorkspaceScope = z.union([
  z.literal("*"),
  z.array(WorkspaceId).min(1).max(limits.token_workspaces),
]);
export type WorkspaceScope = z.infer<typeof WorkspaceScope>;

/** Without its secret, which is shown once and kept as a hash. */
export const Token = z.strictObject({
  token_id: TokenId,
  label: z.string(),
  user_id: z.string(),
  role: Role,
  workspaces: WorkspaceScope,
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
  last_used_at: z.iso.datetime().nullable(),
});
export type Token = z.infer<typeof Token>;

const ranks: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, admin: 2 };

export function isAtLeast(role: Role, needed: Role): boolean {
  return ranks[role] >= ranks[needed];
}

/** A token or a ticket, wherever it stands in a text. */
const SECRET = /reins_(?:ticket_)?[\w-]{43}/g;

/** For texts that others will read, such as logs and audit rows. */
export function withoutSecrets(text: string): string {
  return text.replace(SECRET, "reins_…");
}
