import { removeHandOver, returnHandOver } from "#host/session/hand-over.ts";
import type { Handed } from "#host/upgrade/take-over.ts";

/**
 * Gives the process back to the program that handed it over, once: the descriptors are still open as it left them. By
 * Node's own call, which needs nothing that could be what failed here. Returns when there is no way back.
 */
export function goBack(dataPath: string, { head, content }: Handed): void {
  const [program = "", ...rest] = head.back;
  if (head.is_returned || process.execve === undefined) {
    removeHandOver(dataPath);
    return;
  }
  returnHandOver(dataPath, content);
  process.execve(program, [program, ...rest, "host", "--data-dir", dataPath]);
}
