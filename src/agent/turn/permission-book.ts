import { decide, type Ruling } from "#agent/permission/decide.ts";
import {
  type ParsedPermissions,
  parsePermissions,
  withApproval,
} from "#agent/permission/permissions.ts";
import type { AgentState } from "#agent/state/agent-state.ts";
import type { AgentTool, ToolCall } from "#agent/toolset.ts";
import type { ApprovalDecision } from "#contract/agent/events.ts";
import type { Permissions, SafetyMode } from "#contract/agent/spec.ts";
import type { Emit } from "./stage.ts";

type ApprovedCall = Parameters<typeof withApproval>[2];

interface PermissionDeps {
  readonly fold: AgentState;
  readonly emit: Emit;
  readonly team: Permissions;
  readonly isHeadless: boolean;
}

/** What the agents of a session may do, by the team's file and by what people said since. */
export class PermissionBook {
  readonly #deps: PermissionDeps;
  readonly #team: ParsedPermissions;
  #parsed: { readonly from: Permissions; readonly session: ParsedPermissions } | undefined;

  constructor(deps: PermissionDeps) {
    this.#deps = deps;
    this.#team = parsePermissions(deps.team);
  }

  get safety(): SafetyMode {
    return this.#deps.fold.talk.permissions.safety;
  }

  decide(
    call: ToolCall & Pick<AgentTool, "hints">,
    hook: "allow" | "ask" | "deny" | undefined,
  ): Ruling {
    if (hook === "deny") return { kind: "deny", because: "a hook denied it" };
    return decide(call, {
      team: this.#team,
      session: this.#session(),
      safety: this.safety,
      headless: this.#deps.isHeadless,
      hook,
    });
  }

  /** What a person's answer will mean for later calls. A pattern that is none is refused before anything happens. */
  plan(decision: ApprovalDecision, approved: ApprovedCall): () => void {
    const before = this.#deps.fold.talk.permissions.session;
    const after = withApproval(before, decision, approved);
    return () => {
      if (after !== before) this.#change(after, this.safety);
    };
  }

  /** Lists that are given replace those that were. */
  change({ safety, ...given }: Permissions & { readonly safety?: SafetyMode | undefined }): void {
    parsePermissions(given);
    const before = this.#deps.fold.talk.permissions.session;
    this.#change({ ...before, ...given }, safety ?? this.safety);
  }

  /** At the start of a session, what its creator asked for. */
  begin(permissions: Permissions = {}, safety: SafetyMode = "balanced"): void {
    parsePermissions(permissions);
    this.#change(permissions, safety);
  }

  #change(permissions: Permissions, safety: SafetyMode): void {
    this.#deps.emit({ type: "permissions.changed", permissions, safety });
  }

  #session(): ParsedPermissions {
    const from = this.#deps.fold.talk.permissions.session;
    if (this.#parsed?.from !== from) this.#parsed = { from, session: parsePermissions(from) };
    return this.#parsed.session;
  }
}
