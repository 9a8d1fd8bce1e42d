/** What Chromium, Firefox, Safari and Vite say when a part of the page cannot be loaded. */
const NOT_LOADED = [
  "failed to fetch dynamically imported module",
  "error loading dynamically imported module",
  "importing a module script failed",
  "unable to preload css",
  "is not a valid javascript mime type",
];
const MESSAGE_CHARS = 500;

/** Parts have the build in their names: after an upgrade the old ones are gone. */
export function isPartMissing(error: unknown): boolean {
  const text = messageOf(error).toLowerCase();
  return NOT_LOADED.some((words) => text.includes(words));
}

export function describeCrash(
  error: unknown,
  isAway: boolean,
): { readonly title: string; readonly text: string } {
  if (!isPartMissing(error))
    return {
      title: "This view has failed",
      text: `That is a mistake of the page, and no session is harmed by it: ${messageOf(error)}`,
    };
  if (isAway)
    return {
      title: "A part of the page could not be loaded",
      text: "The server cannot be reached right now. Reload when it is back.",
    };
  return {
    title: "Reins was updated; reload",
    text: "This page is of an older version, and its other parts are gone. Your sessions go on.",
  };
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.length <= MESSAGE_CHARS ? text : `${text.slice(0, MESSAGE_CHARS)}…`;
}
