import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { isErrno } from "#base/errno.ts";
import { makeFolders } from "#base/make-folders.ts";
import { SessionId } from "#contract/ids.ts";
import { SESSION_SECRET, USER_SECRET } from "./find-binding.ts";

/**
 * The secrets by which the host knows whose a connection is; see docs/adr/0012-bound-connections.md.
 *
 *   secrets/user                  random, the user's
 *   secrets/<session_id>/secret   the session's: an HMAC of its id under the user's
 */
export interface Secrets {
  isUsers(secret: string): boolean;
  isOf(sessionId: string, secret: string): boolean;
  /** Writes the file of a session, if it was not written yet. */
  give(sessionId: string): void;
  remove(sessionId: string): void;
}

const SECRET_BYTES = 32;

/** For the host alone, which has the lock of the data directory. */
export function openSecrets(folder: string): Secrets {
  makeFolders(folder, 0o700);
  const users = readOrMake(join(folder, USER_SECRET));
  const given = new Set<string>();
  const derive = (sessionId: string) => createHmac("sha256", users).update(sessionId).digest("hex");
  return {
    isUsers: (secret) => isSame(secret, users),
    isOf: (sessionId, secret) => isSame(secret, derive(sessionId)),
    give: (sessionId) => {
      if (given.has(sessionId)) return;
      makeFolders(join(folder, sessionId), 0o700);
      writeFileAtomic(join(folder, sessionId, SESSION_SECRET), derive(sessionId));
      given.add(sessionId);
    },
    remove: (sessionId) => {
      given.delete(sessionId);
      rmSync(join(folder, sessionId), { recursive: true, force: true });
    },
  };
}

/** Removes the secrets of sessions that are no longer there, left by a host that died while it removed one. */
export function removeStaleSecrets(secretsFolder: string, sessionsFolder: string): void {
  for (const name of readdirSync(secretsFolder))
    if (SessionId.safeParse(name).success && !existsSync(join(sessionsFolder, name)))
      rmSync(join(secretsFolder, name), { recursive: true, force: true });
}

function readOrMake(path: string): string {
  try {
    const found = readFileSync(path, "utf8");
    if (found.length >= SECRET_BYTES) return found;
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error;
  }
  const made = randomBytes(SECRET_BYTES).toString("hex");
  writeFileAtomic(path, made);
  return made;
}

/** Digests have one length, so that neither the length nor the content of a secret shows in the time. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHmac("sha256", "reins").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
