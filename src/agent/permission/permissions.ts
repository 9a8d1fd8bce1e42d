import type { ApprovalDecision } from "#contract/agent/events.ts";
import type { Permissions } from "#contract/agent/spec.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { formatToolPattern, type Pattern, parsePattern } from "./pattern.ts";

/** Permissions whose patterns were read. */
export interface ParsedPermissions {
  readonly allow: readonly Pattern[];
  readonly ask: readonly Pattern[];
  readonly deny: readonly Pattern[];
}

export const NO_PERMISSIONS: ParsedPermissions = { allow: [], ask: [], deny: [] };
/** What `approve_session` allows. */
const EVERYTHING = "*";

/** One pattern that does not parse refuses them all: nothing is left out in silence. */
export function parsePermissions(permissions: Permissions): ParsedPermissions {
  return {
    allow: parseList(permissions, "allow"),
    ask: parseList(permissions, "ask"),
    deny: parseList(permissions, "deny"),
  };
}

/**
 * The session's permissions after somebody has answered: `approve_tool` allows the tool, or the pattern that came with
 * the answer, `approve_session` everything. Denying still wins. The other answers change nothing.
 */
export function withApproval(
  permissions: Permissions,
  decision: ApprovalDecision,
  approved: { readonly tool: string; readonly pattern?: string | undefined },
): Permissions {
  if (decision === "approve" || decision === "reject") return permissions;
  const pattern =
    decision === "approve_session"
      ? EVERYTHING
      : (approved.pattern ?? formatToolPattern(approved.tool));
  parsePattern(pattern);
  const allow = permissions.allow ?? [];
  if (allow.some((each) => each.toLowerCase() === pattern.toLowerCase())) return permissions;
  if (allow.length >= limits.permission_patterns) {
    throw new Fault(
      "too_many",
      `the session already allows ${limits.permission_patterns} patterns; replace some of them by a wider one`,
    );
  }
  return { ...permissions, allow: [...allow, pattern] };
}

function parseList(permissions: Permissions, list: keyof Permissions): readonly Pattern[] {
  return (permissions[list] ?? []).map((text, index) => {
    try {
      return parsePattern(text);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      throw new Fault(error.code, `permissions.${list}[${index}]: ${error.message}`, {
        details: { ...error.details, list, index },
        cause: error,
      });
    }
  });
}
