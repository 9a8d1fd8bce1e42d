import type { EndReason } from "#contract/session-state.ts";

/**
 * Who may type, as this page knows it. The server decides; this only follows what it says.
 *
 * ```
 *   connecting ──connected──▶ live ◀──restored── lost
 *                              │ └───────lost────▶ ▲ (tried again by the client library)
 *        viewer ──took──▶ controller ──released, control {holder: null}──▶ viewer
 *           ▲                  │ taken_over
 *           └─ stays attached ─┘                 exit, failed ──▶ over
 * ```
 */
export interface ControlState {
  readonly connection: "connecting" | "live" | "lost" | "over";
  readonly role: "viewer" | "controller";
  /** Who holds the reins, null = nobody. */
  readonly holder: string | null;
  /** Who took them from this page, until they are taken back or it is dismissed. */
  readonly takenBy: string | undefined;
  /** That a viewer types into nothing is said once. */
  readonly hint: "unsaid" | "shown" | "said";
  /** There is something to see, and be it an empty screen. */
  readonly isDrawn: boolean;
  /** The connection has just come back. */
  readonly isBack: boolean;
  readonly exit: Exit | undefined;
  /** Why there is nothing to see any more. */
  readonly failure: string | undefined;
}

export interface Exit {
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly reason: EndReason;
}

type Role = ControlState["role"];

/** As long as it is not over. */
type Followed =
  /** `isNoticed`: after a cut that was shown. */
  | {
      readonly type: "connected" | "restored";
      readonly role: Role;
      readonly isNoticed?: boolean;
    }
  | { readonly type: "control"; readonly holder: string | null }
  /** A key that reached nobody. */
  | { readonly type: "typed_in_vain" }
  | { readonly type: "drawn" }
  | { readonly type: "lost" | "took" | "released" | "refused" | "taken_over" };

export type ControlEvent =
  | Followed
  | ({ readonly type: "exit" } & Exit)
  | { readonly type: "failed"; readonly sentence: string }
  | { readonly type: "dismissed"; readonly what: "hint" | "back" | "taken" }
  /** After a failure, from the beginning. */
  | { readonly type: "opened_again" };

/** Another client has control, and the server has not said which. */
const SOMEBODY = "another client";

export function createControlState(holder: string | null): ControlState {
  return {
    connection: "connecting",
    role: "viewer",
    holder,
    takenBy: undefined,
    hint: "unsaid",
    isDrawn: false,
    isBack: false,
    exit: undefined,
    failure: undefined,
  };
}

export function changeControl(state: ControlState, event: ControlEvent): ControlState {
  switch (event.type) {
    case "opened_again":
      return createControlState(state.holder);
    case "failed":
      return { ...state, ...ended, failure: event.sentence };
    case "exit": {
      const { exit_code, signal, reason } = event;
      return { ...state, ...ended, exit: { exit_code, signal, reason } };
    }
    case "dismissed":
      return dismiss(state, event.what);
    default:
      // What comes behind the end changes nothing.
      return state.connection === "over" ? state : follow(state, event);
  }
}

const ended = {
  connection: "over",
  role: "viewer",
  takenBy: undefined,
  isBack: false,
} as const satisfies Partial<ControlState>;

function follow(state: ControlState, event: Followed): ControlState {
  switch (event.type) {
    case "connected":
      return { ...state, connection: "live", ...rolesOf(state, event.role) };
    case "restored":
      return {
        ...restore(state, event.role),
        connection: "live",
        isBack: event.isNoticed === true,
      };
    case "drawn":
      return { ...state, isDrawn: true };
    case "lost":
      return { ...state, connection: "lost", isBack: false };
    case "control":
      // A takeover ends a controller's connection; a lease that ran out does not.
      return event.holder === null
        ? { ...state, holder: null, role: "viewer" }
        : { ...state, holder: event.holder, takenBy: state.takenBy && event.holder };
    case "took":
      return { ...state, role: "controller", takenBy: undefined, hint: "said" };
    case "released":
      return { ...state, role: "viewer", holder: null };
    case "refused":
      return { ...state, role: "viewer" };
    case "taken_over":
      return { ...state, role: "viewer", takenBy: state.holder ?? SOMEBODY };
    case "typed_in_vain":
      return state.hint === "unsaid" && state.role === "viewer"
        ? { ...state, hint: "shown" }
        : state;
  }
}

/** Whoever held the reins before a cut and comes back without them has lost them meanwhile. */
function restore(state: ControlState, role: Role): ControlState {
  const hasLost = state.role === "controller" && role === "viewer";
  const { takenBy } = rolesOf(state, role);
  return { ...state, role, takenBy: hasLost ? (state.holder ?? SOMEBODY) : takenBy };
}

/** Who holds them has had nothing taken. */
function rolesOf({ takenBy }: ControlState, role: Role): Pick<ControlState, "role" | "takenBy"> {
  return { role, takenBy: role === "controller" ? undefined : takenBy };
}

function dismiss(state: ControlState, what: "hint" | "back" | "taken"): ControlState {
  if (what === "back") return { ...state, isBack: false };
  if (what === "taken") return { ...state, takenBy: undefined };
  return state.hint === "shown" ? { ...state, hint: "said" } : state;
}

export interface Watcher {
  /** As the server calls who looks at this page. */
  readonly name: string;
  readonly mayControl: boolean;
}

export interface ControlShown {
  readonly canType: boolean;
  readonly action: "take" | "release" | undefined;
  readonly says: string;
}

/** What of it people see. */
export function describeControl(state: ControlState, watcher: Watcher): ControlShown {
  const { connection, role, holder } = state;
  if (connection === "over") return { canType: false, action: undefined, says: "" };
  if (connection === "connecting")
    return { canType: false, action: undefined, says: "Connecting…" };
  if (role === "controller") return { canType: true, action: "release", says: "You have control" };
  const says = sayHolder(holder, watcher);
  return { canType: false, action: watcher.mayControl ? "take" : undefined, says };
}

function sayHolder(holder: string | null, { name, mayControl }: Watcher): string {
  if (holder === null) return mayControl ? "No one has control" : "View only";
  const who = personOf(holder);
  return who === name ? "Your other window has control" : `${who} has control`;
}

/** A holder is a person and a number, for one person may sit at several places. */
function personOf(holder: string): string {
  return holder.replace(/#\d+$/, "");
}

/** Who took them, in the words of the one who lost them. */
export function sayTaken(takenBy: string, { name }: Watcher): string {
  const who = personOf(takenBy);
  return who === name ? "You took control in another window" : `${who} took control`;
}
