import {
  accessSync,
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { randomId } from "#base/random-id.ts";
import { Fault } from "#contract/fault.ts";
import { type FileScope, type Folder, openOr, openPlace, type Place } from "./file-scope.ts";

/** Of a file that is changed as a whole. */
export const CHANGED_FILE_BYTES = 8 * 1024 * 1024;
const BINARY_LOOK_BYTES = 8192;
const BOM = "\uFEFF";

interface FoundFile {
  readonly stats: BigIntStats;
  /** With its byte order mark, if it has one; undefined when it is too large or no UTF-8. */
  readonly text: string | undefined;
}

/** A regular file that may be written to, or undefined when nothing is there. */
export function findFile({ folder, name }: Place, path: string): FoundFile | undefined {
  if (lstatSync(folder.at(name), { throwIfNoEntry: false }) === undefined) return undefined;
  const fd = folder.openFile(name, path);
  try {
    // A rename asks only the folder; that a file is write-protected is respected all the same.
    accessSync(folder.at(name), constants.W_OK);
    const stats = fstatSync(fd, { bigint: true });
    if (stats.size > CHANGED_FILE_BYTES) return { stats, text: undefined };
    const bytes = readBytes(fd, { from: 0, length: CHANGED_FILE_BYTES });
    return { stats, text: isBinary(bytes) ? undefined : decodeText(bytes) };
  } finally {
    closeSync(fd);
  }
}

/** Up to so many bytes from a place on; fewer at the end of the file. */
export function readBytes(
  fd: number,
  { from, length }: { readonly from: number; readonly length: number },
): Buffer {
  const parts: Buffer[] = [];
  let done = 0;
  while (done < length) {
    const part = Buffer.alloc(Math.min(length - done, 1024 * 1024));
    const got = readSync(fd, part, 0, part.length, from + done);
    if (got === 0) break;
    parts.push(part.subarray(0, got));
    done += got;
  }
  return Buffer.concat(parts);
}

export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, BINARY_LOOK_BYTES).includes(0);
}

/** Undefined when it is no UTF-8. A byte order mark stays where it is. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // The decoder's only complaint.
    return undefined;
  }
}

/** A new text in the manner of the old one: its byte order mark, and its line ends where they are all CRLF. */
export function inMannerOf(old: string, text: string): string {
  const body = hasOnlyCrlf(old) ? toCrlf(text) : text;
  return old.startsWith(BOM) && !body.startsWith(BOM) ? BOM + body : body;
}

export function hasOnlyCrlf(text: string): boolean {
  return text.includes("\r\n") && !/(?<!\r)\n/.test(text);
}

export function toCrlf(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

/**
 * Replaces a file as a whole or makes it: a reader meets the old content or the new one. `old` is what was there, if
 * anything was, and whoever changed the file since then is not overwritten.
 */
export function replaceFile(
  { folder, name }: Place,
  content: string,
  { path, old }: { readonly path: string; readonly old: BigIntStats | undefined },
): void {
  const temporary = folder.at(`.${randomId("tmp")}`);
  openOr(() => {
    try {
      writeNew(temporary, content, old);
      if (!isSame(old, folder, name))
        throw new Fault(
          "conflict",
          `${path} was changed by somebody else meanwhile; read it again`,
        );
      renameSync(temporary, folder.at(name));
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }, path);
}

function writeNew(temporary: string, content: string, old: BigIntStats | undefined): void {
  const fd = openSync(temporary, "wx", 0o666);
  try {
    if (old !== undefined) keepRights(fd, old);
    const bytes = Buffer.from(content);
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
  } finally {
    closeSync(fd);
  }
}

/** The owner first: giving a file away clears some bits of its mode. */
function keepRights(fd: number, old: BigIntStats): void {
  const { uid, gid } = fstatSync(fd, { bigint: true });
  if (uid !== old.uid || gid !== old.gid) {
    try {
      fchownSync(fd, Number(old.uid), Number(old.gid));
    } catch {
      // Only an administrator may give files away; then it is ours, as with every other editor.
    }
  }
  fchmodSync(fd, Number(old.mode & 0o7777n));
}

function isSame(old: BigIntStats | undefined, folder: Folder, name: string): boolean {
  const now = lstatSync(folder.at(name), { bigint: true, throwIfNoEntry: false });
  if (old === undefined) return now === undefined;
  return now?.ino === old.ino && now.mtimeNs === old.mtimeNs && now.size === old.size;
}

/** Opens the place of a file for as long as the work takes. */
export function withPlace<T>(
  scope: FileScope,
  { path, make }: { readonly path: string; readonly make: boolean },
  work: (place: Place) => T,
): T {
  const place = openPlace(scope, path, { make });
  using _folder = place.folder;
  return openOr(() => work(place), path);
}
