import type { Role, Token } from "#contract/token.ts";
import { defined } from "#contract/values/defined.ts";

const DAY_MS = 86_400_000;

/** How long a token may last; `undefined` is until somebody revokes it. */
export const LIFETIMES: readonly { readonly label: string; readonly ms: number | undefined }[] = [
  { label: "1 day", ms: DAY_MS },
  { label: "7 days", ms: 7 * DAY_MS },
  { label: "30 days", ms: 30 * DAY_MS },
  { label: "90 days", ms: 90 * DAY_MS },
  { label: "1 year", ms: 365 * DAY_MS },
  { label: "Until it is revoked", ms: undefined },
];
const USUAL_LIFETIME = "30 days";

export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  viewer: "looks, and changes nothing",
  operator: "also types, starts, answers and closes",
  admin: "also sees the audit and says who else may come",
};
export const ROLES: readonly Role[] = ["viewer", "operator", "admin"];

export interface TokenDraft {
  readonly label: string;
  readonly user_id: string;
  readonly role: Role;
  /** `mine`: as far as the one who makes it sees. */
  readonly scope: "mine" | "chosen";
  readonly chosen: readonly string[];
  readonly lifetime: string;
}

export const NO_DRAFT: TokenDraft = {
  label: "",
  user_id: "",
  role: "operator",
  scope: "mine",
  chosen: [],
  lifetime: USUAL_LIFETIME,
};

interface TokenAsked {
  readonly label?: string;
  readonly user_id: string;
  readonly role: Role;
  readonly workspaces?: readonly string[];
  readonly expires_in_ms?: number;
}

export interface DraftFaults {
  readonly user_id?: string;
  readonly chosen?: string;
}

/** What to ask the server for, or what is still wrong. */
export function readDraft(draft: TokenDraft): { asked: TokenAsked } | { faults: DraftFaults } {
  const faults = findFaults(draft);
  if (Object.keys(faults).length > 0) return { faults };
  const label = draft.label.trim();
  const ms = LIFETIMES.find((one) => one.label === draft.lifetime)?.ms;
  return {
    asked: {
      user_id: draft.user_id.trim(),
      role: draft.role,
      ...(label === "" ? {} : { label }),
      ...(draft.scope === "chosen" ? { workspaces: draft.chosen } : {}),
      ...defined({ expires_in_ms: ms }),
    },
  };
}

function findFaults({ user_id, scope, chosen }: TokenDraft): DraftFaults {
  const name = user_id.trim();
  const wrongName = "A user has letters, digits and . @ + - _ in the name.";
  return {
    ...(name === "" ? { user_id: "Say who it is for." } : {}),
    ...(name !== "" && !/^[\w.@+-]+$/.test(name) ? { user_id: wrongName } : {}),
    ...(scope === "chosen" && chosen.length === 0
      ? { chosen: "Choose at least one workspace." }
      : {}),
  };
}

const SOON_MS = 3 * DAY_MS;

export function isEndingSoon({ expires_at }: Pick<Token, "expires_at">, now: number): boolean {
  return expires_at !== null && Date.parse(expires_at) - now < SOON_MS;
}

/** `names`: of the workspaces that are known. */
export function sayScope(
  { workspaces }: Pick<Token, "workspaces">,
  names: ReadonlyMap<string, string>,
): string {
  if (workspaces === "*") return "every workspace";
  const [first = "", ...others] = workspaces.map((id) => names.get(id) ?? id);
  if (others.length === 0) return first;
  return others.length === 1 ? `${first}, ${others[0]}` : `${first} and ${others.length} others`;
}
