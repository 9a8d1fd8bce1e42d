import { existsSync } from "node:fs";
import { join } from "node:path";

export const HAND_OVER_FILE = "handover.json";

/** Whether one program takes the host's process over from another at this moment. Loads no schema. */
export function isHandingOver(dataPath: string): boolean {
  return existsSync(join(dataPath, HAND_OVER_FILE));
}
