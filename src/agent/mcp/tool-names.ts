import { createHash } from "node:crypto";

/** What every provider takes. */
const LONGEST = 64;
const MARK_CHARS = 8;
const UNSAFE = /[^a-zA-Z0-9_-]/g;
/** The name of a toolset that was given none. */
const UNNAMED = "mcp";

/**
 * The name by which a model calls a server's tool: `<toolset>_<tool>`, or the tool's own when the toolset was given no
 * name. A name that has to be changed ends in a mark made of the whole one, so that two tools never share a name and a
 * name means the same tool whatever else the server has.
 */
export function nameTool(toolset: string, tool: string): string {
  const whole = toolset === UNNAMED ? tool : `${toolset}_${tool}`;
  const safe = whole.replaceAll(UNSAFE, "_");
  if (safe === whole && safe.length <= LONGEST) return whole;
  const mark = createHash("sha256").update(whole).digest("hex").slice(0, MARK_CHARS);
  return `${safe.slice(0, LONGEST - MARK_CHARS - 1)}_${mark}`;
}
