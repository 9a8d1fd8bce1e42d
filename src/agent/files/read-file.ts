import { closeSync, fstatSync } from "node:fs";
import type { ToolOutcome } from "#agent/toolset.ts";
import { limits } from "#contract/limits.ts";
import { isBinary, readBytes, withPlace } from "./file-content.ts";
import { type FileScope, refused } from "./file-scope.ts";

/** Of one answer. */
export const SHOWN_LINES = 2000;
const SHOWN_BYTES = 128 * 1024;
/** A longer line is cut where it is shown; minified code would fill the answer with one. */
const LINE_BYTES = 8192;
/** How far into a file lines are counted. */
const SCANNED_BYTES = 256 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;
const IMAGE_BYTES = Math.floor(limits.image_b64_chars / 4) * 3;
const NEWLINE = 10;

interface ReadRange {
  /** The first line, from 1. */
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

/** Lines of a text file, or an image. */
export function readFile(scope: FileScope, path: string, range: ReadRange): ToolOutcome | string {
  return withPlace(scope, { path, make: false }, ({ folder, name }) => {
    const fd = folder.openFile(name, path);
    try {
      const { size } = fstatSync(fd);
      const head = readBytes(fd, { from: 0, length: CHUNK_BYTES });
      const media_type = imageTypeOf(head);
      if (media_type !== undefined) return showImage(fd, { path, size, media_type });
      if (isBinary(head)) throw refused(`${path} is a binary file of ${size} bytes, not text`);
      return showLines(fd, path, range);
    } finally {
      closeSync(fd);
    }
  });
}

/** By their first bytes, whatever the file is called. */
function imageTypeOf(head: Buffer): string | undefined {
  const starts = head.subarray(0, 12).toString("latin1");
  if (starts.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (starts.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (starts.startsWith("GIF87a") || starts.startsWith("GIF89a")) return "image/gif";
  if (starts.startsWith("RIFF") && starts.slice(8) === "WEBP") return "image/webp";
  return undefined;
}

interface Image {
  readonly path: string;
  readonly size: number;
  readonly media_type: string;
}

function showImage(fd: number, { path, size, media_type }: Image): ToolOutcome {
  if (size > IMAGE_BYTES)
    throw refused(`${path} is an image of ${size} bytes; at most ${IMAGE_BYTES} can be shown`);
  const data_b64 = readBytes(fd, { from: 0, length: IMAGE_BYTES }).toString("base64");
  return {
    output: `${path}: ${media_type}, ${size} bytes`,
    images: [{ type: "image", media_type, data_b64 }],
  };
}

function showLines(
  fd: number,
  path: string,
  { offset = 1, limit = SHOWN_LINES }: ReadRange,
): string {
  const most = Math.min(limit, SHOWN_LINES);
  const shown: string[] = [];
  let [number, bytes, hasMore] = [0, 0, false];
  for (const line of scanLines(fd, path)) {
    number += 1;
    if (number < offset) continue;
    hasMore = shown.length >= most || bytes >= SHOWN_BYTES;
    if (hasMore) break;
    shown.push(showLine(line, path));
    bytes += line.bytes.length;
  }
  if (number === 0) return "[the file is empty]";
  if (shown.length === 0) throw refused(`${path} has ${number} lines; there is no line ${offset}`);
  if (!hasMore && offset === 1) return shown.join("\n");
  const last = offset + shown.length - 1;
  const rest = hasMore
    ? `; there is more: go on with offset ${last + 1}`
    : `, the last of ${number}`;
  return `${shown.join("\n")}\n[lines ${offset} to ${last}${rest}]`;
}

interface Line {
  /** Its beginning, without the line end. */
  readonly bytes: Buffer;
  readonly length: number;
}

/** Line by line, keeping no more of any than is shown. */
function* scanLines(fd: number, path: string): Generator<Line> {
  let parts: Buffer[] = [];
  let length = 0;
  for (let scanned = 0; ; ) {
    if (scanned >= SCANNED_BYTES)
      throw refused(`${path}: only its first ${SCANNED_BYTES} bytes can be read by lines`);
    const chunk = readBytes(fd, { from: scanned, length: CHUNK_BYTES });
    if (chunk.length === 0) break;
    scanned += chunk.length;
    for (let at = 0; at < chunk.length; ) {
      const newline = chunk.indexOf(NEWLINE, at);
      const piece = chunk.subarray(at, newline < 0 ? chunk.length : newline);
      parts.push(piece.subarray(0, Math.max(0, LINE_BYTES - length)));
      length += piece.length;
      at += piece.length + 1;
      if (newline < 0) continue;
      yield { bytes: Buffer.concat(parts), length };
      [parts, length] = [[], 0];
    }
  }
  if (length > 0) yield { bytes: Buffer.concat(parts), length };
}

function showLine({ bytes, length }: Line, path: string): string {
  const text = decodeLine(bytes, { isCut: length > bytes.length });
  if (text === undefined) throw refused(`${path} is no UTF-8 text`);
  if (length <= bytes.length) return text.replace(/^\uFEFF/, "").replace(/\r$/, "");
  return `${text} [line cut: it has ${length} bytes]`;
}

function decodeLine(bytes: Buffer, { isCut }: { readonly isCut: boolean }): string | undefined {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    // A character that was cut in two is left out.
    return decoder.decode(bytes, { stream: isCut });
  } catch {
    // The decoder's only complaint.
    return undefined;
  }
}
