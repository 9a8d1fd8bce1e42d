import { isLive } from "#contract/ended.ts";
import type { OperationInput } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import type { IconName } from "#web/ui/icons.tsx";

export type ExportFormat = NonNullable<OperationInput<"session.export">["format"]>;

/** Something that can be done with one session, from its menu or the palette. */
export type SessionDeed =
  | { readonly kind: "rename" | "copy-link" | "copy-id" | "recording" | "interrupt" }
  | { readonly kind: "close" | "remove" }
  | { readonly kind: "export"; readonly format: ExportFormat };

export interface SessionItem {
  readonly deed: SessionDeed;
  /** Begins with a verb, and needs no other words beside it. */
  readonly label: string;
  readonly icon: IconName;
  /** Items of a section stand together. */
  readonly section: "session" | "export" | "end";
  readonly isGrave?: boolean;
}

/** What this session allows to somebody who may, or may not, change things. */
export function listItems(session: Session, mayChange: boolean): readonly SessionItem[] {
  const isRunning = isLive(session);
  const isShown = ({ deed: { kind } }: SessionItem) => {
    if (kind === "recording") return session.kind !== "agent";
    if (kind === "rename") return mayChange;
    if (kind === "interrupt" || kind === "close") return mayChange && isRunning;
    if (kind === "remove") return mayChange && !isRunning;
    return true;
  };
  return [...common, ...(session.kind === "agent" ? ofAgents : ofTerminals), ...endings].filter(
    isShown,
  );
}

const common: readonly SessionItem[] = [
  { section: "session", icon: "edit", label: "Rename", deed: { kind: "rename" } },
  { section: "session", icon: "link", label: "Copy link", deed: { kind: "copy-link" } },
  { section: "session", icon: "copy", label: "Copy id", deed: { kind: "copy-id" } },
  { section: "session", icon: "clock", label: "Show recording", deed: { kind: "recording" } },
];

const ofTerminals: readonly SessionItem[] = [
  exportAs("asciicast", "Export as asciicast"),
  exportAs("text", "Export as text"),
];

const ofAgents: readonly SessionItem[] = [
  exportAs("markdown", "Export as Markdown"),
  exportAs("json", "Export as JSON"),
];

const endings: readonly SessionItem[] = [
  { section: "end", icon: "stop", label: "Interrupt", deed: { kind: "interrupt" } },
  { section: "end", icon: "close", label: "Close", deed: { kind: "close" }, isGrave: true },
  { section: "end", icon: "trash", label: "Remove", deed: { kind: "remove" }, isGrave: true },
];

function exportAs(format: ExportFormat, label: string): SessionItem {
  return { section: "export", icon: "download", label, deed: { kind: "export", format } };
}
