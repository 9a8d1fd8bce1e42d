import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { isErrno } from "#base/errno.ts";
import { randomId } from "#base/random-id.ts";
import { Fault } from "#contract/fault.ts";
import { compareNewest, parseRecord, type RecordedProcess, type RunRecord } from "./run-record.ts";

/**
 * The records of runs with an address of their own:
 *
 *   runs/               0700, also when it was not
 *     <session id>.<writer>.json   0600, replaced as a whole
 *
 * Each writer has a file name of its own. So whoever prunes what a dead writer left cannot meet the record that its
 * successor wrote for the same session meanwhile: that one has another name.
 */
export interface Registry {
  /** The newest first. What its writer left when it died is removed; what is not ours to understand stays. */
  list(): RunRecord[];
  /** Writes it down until it is disposed. */
  open(record: RunRecord): RunEntry;
}

interface RunEntry extends Disposable {
  /** Replaces the record as a whole. */
  update(record: RunRecord): void;
}

interface RegistryDeps {
  /** Whether exactly this process lives. A pid that was given to somebody else does not count. */
  readonly isAlive: (process: RecordedProcess) => boolean;
}

const FILE = /^(ses_[0-9a-z]{16})\.run_[0-9a-z]{16}\.json$/;
/** Nothing of ours comes near it. */
const RECORD_BYTES = 64 * 1024;
/** More files than this are not ours, or nobody has looked for a very long time. */
const RECORDS = 10_000;
const PRIVATE_DIR = 0o700;

export function createRegistry(dataDir: string, deps: RegistryDeps): Registry {
  const folder = join(dataDir, "runs");
  return {
    list: () => listRecords(folder, deps),
    open: (record) => openEntry(folder, record),
  };
}

function openEntry(folder: string, record: RunRecord): RunEntry {
  mkdirSync(folder, { recursive: true, mode: PRIVATE_DIR });
  if (!isOwnFolder(folder))
    throw new Fault("conflict", `${folder} is not a folder of yours, so no secret is put there`);
  const path = join(folder, `${record.session_id}.${randomId("run")}.json`);
  const update = (newer: RunRecord) => writeFileAtomic(path, `${JSON.stringify(newer)}\n`, 0o600);
  update(record);
  return { update, [Symbol.dispose]: () => removeFile(path) };
}

function listRecords(folder: string, { isAlive }: RegistryDeps): RunRecord[] {
  if (!isOwnFolder(folder)) return [];
  const found: RunRecord[] = [];
  for (const name of listNames(folder)) {
    const path = join(folder, name);
    const record = findRecord(path, FILE.exec(name)?.[1]);
    if (record === undefined) continue;
    if (isAlive(record.server)) found.push(record);
    else removeFile(path);
  }
  return found.toSorted((a, b) => compareNewest(placeOf(a), placeOf(b)));
}

function placeOf({ started_at, session_id }: RunRecord) {
  return { at: started_at, id: session_id };
}

/** Ours, and from now on private: a link or a folder of somebody else's could show us records that he wrote. */
function isOwnFolder(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined || !found.isDirectory() || !isOurs(found.uid)) return false;
  if ((found.mode & 0o777) !== PRIVATE_DIR) chmodSync(folder, PRIVATE_DIR);
  return true;
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => FILE.test(name))
      .slice(0, RECORDS);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return [];
    throw error;
  }
}

function findRecord(path: string, sessionId: string | undefined): RunRecord | undefined {
  const text = findText(path);
  const record = text === undefined ? undefined : parseRecord(text);
  return record?.session_id === sessionId ? record : undefined;
}

function findText(path: string): string | undefined {
  try {
    // Not through links, and without waiting for the other end of a pipe.
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { size, uid, mode } = fstatSync(fd);
      const isRecord = (mode & constants.S_IFMT) === constants.S_IFREG && isOurs(uid);
      return isRecord && size <= RECORD_BYTES ? readFileSync(fd, "utf8") : undefined;
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    // Without descriptors we have not looked at all; everything else is gone, or not ours to read.
    if (isErrno(error, "EMFILE", "ENFILE")) throw error;
    return undefined;
  }
}

function isOurs(uid: number): boolean {
  return uid === (process.getuid?.() ?? uid);
}

/** Somebody else may have been faster. */
function removeFile(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    // Left for the next who looks: a record of a dead process deceives nobody.
    if (!isErrno(error, "EACCES", "EPERM", "EROFS", "ENOENT", "EBUSY")) throw error;
  }
}
