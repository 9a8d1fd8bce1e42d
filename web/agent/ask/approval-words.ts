import type { PendingApproval } from "#contract/agent/views.ts";
import { revealHidden } from "#contract/text/hidden-characters.ts";
import { commandOf } from "#web/agent/talk/call-words.ts";
import { wholeIndex } from "#web/agent/talk/fold.ts";

/** The whole path is above its changes. */
const PATH_CHARS = 80;
const VERBS: Readonly<Record<string, string>> = { edit_file: "Edit", write_file: "Write" };

/** The title of an approval, as a question; hidden characters are still in it. */
export function titleOf({ kind, tool, input }: PendingApproval): string {
  if (kind !== "tool") return "Continue?";
  if (tool === undefined) return "Use a tool?";
  if (commandOf(input) !== undefined) return "Run this command?";
  const { path } = (input ?? {}) as { readonly path?: unknown };
  const verb = Object.hasOwn(VERBS, tool) ? VERBS[tool] : undefined;
  if (verb === undefined || typeof path !== "string") return `Use ${tool}?`;
  return `${verb} ${shorten(path)}?`;
}

/** The label of the button that allows this tool from now on. */
export function allowToolWords({ tool }: PendingApproval): string {
  return tool === undefined
    ? "Always allow this tool"
    : `Always allow ${shorten(revealHidden(tool, "decision"))}`;
}

/** Keeps the end of a path, which says most. */
function shorten(text: string): string {
  if (text.length <= PATH_CHARS) return text;
  return `…${text.slice(wholeIndex(text, text.length - PATH_CHARS))}`;
}
