import { lstatSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "#contract/fault.ts";

/** What Reins writes itself, for its user alone. */
const OWN_FILES = [
  "format",
  "reins.db",
  "reins.db-wal",
  "reins.db-shm",
  "memory.db",
  "memory.db-wal",
  "memory.db-shm",
  "token",
  "host.lock",
  "handover.json",
  "gateway.json",
  "runs",
  "sessions",
  "shells",
] as const;
/** Files that people write, whose umask may let their own group write too. */
const PEOPLES_FILES = ["config.yaml", "teams"] as const;

const GROUP_WRITE = 0o020;
const OTHERS_WRITE = 0o002;

export interface TrustOptions {
  /** The user that everything must belong to; ours unless a test says otherwise. */
  readonly uid?: number | undefined;
  /** Whose an entry is; for tests, which may give nothing to another user. */
  readonly ownerOf?: (path: string, stats: Stats) => number;
}

/**
 * Throws when the directory, or something in it that grants rights, is another user's or can be changed by one: a user
 * who wrote a database, a token or a configuration could give themselves every right. Touches nothing.
 */
export function checkTrust(
  path: string,
  { uid = process.getuid?.(), ownerOf = (_, stats) => stats.uid }: TrustOptions = {},
): void {
  if (uid === undefined) return;
  const rule = { uid, ownerOf, data_dir: path };
  // The owner closes a directory that is open to others before anything is read from it.
  if (!check(path, { ...rule, forbidden: 0 })) return;
  for (const name of OWN_FILES)
    check(join(path, name), { ...rule, forbidden: GROUP_WRITE | OTHERS_WRITE });
  for (const name of PEOPLES_FILES) check(join(path, name), { ...rule, forbidden: OTHERS_WRITE });
}

interface Rule {
  readonly uid: number;
  readonly ownerOf: (path: string, stats: Stats) => number;
  /** Bits that its mode must not have. */
  readonly forbidden: number;
  readonly data_dir: string;
}

/** False when it is not there. A link is trusted as far as its own owner and what it leads to are. */
function check(path: string, rule: Rule): boolean {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return false;
  const found = entry.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : entry;
  for (const stats of [entry, found]) {
    const owner = stats === undefined ? rule.uid : rule.ownerOf(path, stats);
    // Root could do everything anyway.
    if (owner !== rule.uid && owner !== 0) throw foreign(path, owner, rule);
  }
  if (found !== undefined && !found.isDirectory() && (found.mode & rule.forbidden) !== 0)
    throw writable(path, rule);
  return found !== undefined;
}

function foreign(path: string, owner: number, { uid, data_dir }: Rule): Fault {
  return new Fault(
    "host_unavailable",
    `${path} belongs to user ${owner}, and you are user ${uid}, so it is not trusted. Run reins as its owner, or choose another data directory with REINS_HOME`,
    { details: { data_dir, path, owner, reason: "untrusted_owner" } },
  );
}

function writable(path: string, { data_dir }: Rule): Fault {
  return new Fault(
    "host_unavailable",
    `${path} can be changed by other users, so it is not trusted. Check what it holds, then: chmod go-w ${path}`,
    { details: { data_dir, path, reason: "untrusted_mode" } },
  );
}
