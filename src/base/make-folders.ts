import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { isErrno } from "./errno.ts";

/**
 * Makes the folder and those above it. Node's own `recursive` never ends where a folder is there and nothing can be made
 * in it but ENOENT is the answer, as in /proc.
 */
export function makeFolders(path: string, mode: number): void {
  try {
    makeFolder(path, mode);
  } catch (error) {
    if (!isErrno(error, "ENOENT") || dirname(path) === path) throw error;
    makeFolders(dirname(path), mode);
    makeFolder(path, mode);
  }
}

function makeFolder(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // The existing entry may be a file; the caller finds out when it works in it.
    if (!isErrno(error, "EEXIST")) throw error;
  }
}
