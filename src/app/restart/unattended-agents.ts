import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isErrno } from "#base/errno.ts";
import { isRestartDue } from "#contract/agent/agent-status.ts";
import { isCrashed, isLive } from "#contract/ended.ts";
import { RECORD_FILE, readRecord } from "#host/session/session-record.ts";

/**
 * Looks through the session folders for an agent that needs a process with keys: one that runs and may crash, or one
 * that crashed while messages wait. It asks no host, so that an idle host can still end, and starts none for nothing.
 */
export class UnattendedAgents {
  readonly #folder: string;
  /** Session → when its record was last written, for those that need nothing. */
  #settled = new Map<string, number>();

  constructor(sessionsFolder: string) {
    this.#folder = sessionsFolder;
  }

  async find(): Promise<string | undefined> {
    const settled = new Map<string, number>();
    let found: string | undefined;
    for (const name of await readdir(this.#folder)) {
      const written = await writtenAt(join(this.#folder, name, RECORD_FILE));
      if (written === undefined) continue;
      const isSettled = this.#settled.get(name) === written || !this.#needsCare(name);
      if (isSettled) settled.set(name, written);
      else found ??= name;
    }
    this.#settled = settled;
    return found;
  }

  #needsCare(name: string): boolean {
    const read = readRecord(join(this.#folder, name));
    if (!read.ok || read.record.kind !== "agent") return false;
    const { record } = read;
    if (isLive(record)) return true;
    // The host that it starts completes the record of an older one.
    return (
      isCrashed(record) && (record.agent_status === undefined || isRestartDue(record.agent_status))
    );
  }
}

async function writtenAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    // A file that is not a session's, or one that was just removed.
    if (isErrno(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}
