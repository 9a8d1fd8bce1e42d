import { closeSync, fstatSync, lstatSync, readlinkSync } from "node:fs";
import { posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { LinearPattern } from "#base/linear-pattern.ts";
import { decodeText, isBinary, readBytes } from "./file-content.ts";
import { type FileScope, type Folder, openOr, openPlace } from "./file-scope.ts";
import { parseGlob } from "./glob-pattern.ts";
import { compilePattern } from "./line-pattern.ts";
import { listEntries, type WalkEnd, walk } from "./walk.ts";

const LISTED = 1000;
const FOUND_PATHS = 1000;
const MATCHES = 200;
const MATCHES_PER_FILE = 50;
const MATCH_CHARS = 300;
/** Of each line; the rest of a longer one is not looked at. */
const SEARCHED_CHARS = 10_000;
const SEARCHED_FILE_BYTES = 4 * 1024 * 1024;
/** Between two pauses in a file, in which others get their turn. */
const SEARCH_MS = 20;

interface Asked {
  readonly path: string;
  readonly signal: AbortSignal;
}

/** What lies in a folder: `name/` for folders, `name -> target` for links, the size of files. */
export function listDirectory(scope: FileScope, path: string): string {
  using folder = scope.openFolder(scope.locate(path), path);
  const entries = listEntries(folder, path);
  if (entries.length === 0) return "[the directory is empty]";
  const lines = entries.slice(0, LISTED).map(({ name }) => describeEntry(folder, name));
  const more = entries.length - lines.length;
  return [...lines, ...(more > 0 ? [`[and ${more} more]`] : [])].join("\n");
}

function describeEntry(folder: Folder, name: string): string {
  const stats = lstatSync(folder.at(name), { throwIfNoEntry: false });
  if (stats === undefined) return name;
  if (stats.isDirectory()) return `${name}/`;
  if (stats.isSymbolicLink()) return `${name} -> ${readlinkSync(folder.at(name))}`;
  return stats.isFile() ? `${name} (${stats.size} bytes)` : `${name} (no regular file)`;
}

/** Paths of files and folders, from the work dir where they lie in it. */
export async function findPaths(
  scope: FileScope,
  pattern: string,
  { path, signal }: Asked,
): Promise<string> {
  const matcher = await parseGlob(pattern);
  const located = scope.locate(path);
  using top = scope.openFolder(located, path);
  const prefix = scope.name(located.real);
  const end: WalkEnd = { isCut: false };
  const found: string[] = [];
  for await (const { path: below, isFolder } of walk(top, { signal, end })) {
    if (!matcher.test(below)) continue;
    found.push(`${posix.join(prefix, below)}${isFolder ? "/" : ""}`);
    if (found.length > FOUND_PATHS) break;
  }
  if (found.length === 0) return `nothing matches ${pattern}${sayCut(end)}`;
  const more = found.length > FOUND_PATHS ? `\n[more than ${FOUND_PATHS}; narrow the pattern]` : "";
  return `${found.slice(0, FOUND_PATHS).join("\n")}${more}${sayCut(end)}`;
}

interface SearchRequest extends Asked {
  readonly pattern: string;
  readonly glob?: string | undefined;
  readonly ignore_case?: boolean | undefined;
}

interface Search {
  readonly pattern: LinearPattern;
  readonly signal: AbortSignal;
  readonly matches: string[];
  /** Files that were not looked at: too large, or not to be read. */
  skipped: number;
}

/** Lines that match, as `path:line: text`. */
export async function searchFiles(scope: FileScope, request: SearchRequest): Promise<string> {
  const { path, signal, pattern, glob } = request;
  const lines = await compilePattern(pattern, { ignoreCase: request.ignore_case === true });
  const names = glob === undefined ? undefined : await parseGlob(glob);
  const search: Search = { pattern: lines, signal, matches: [], skipped: 0 };
  const end: WalkEnd = { isCut: false };
  for await (const { folder, name, below, shown } of listSearched(scope, { path, signal, end })) {
    if (names?.test(below) === false) continue;
    await searchFile(search, { folder, name, shown });
    if (search.matches.length > MATCHES) break;
  }
  const { matches, skipped } = search;
  const notes = [
    ...(matches.length > MATCHES ? [`\n[more than ${MATCHES} matches; narrow the search]`] : []),
    ...(skipped > 0 ? [`\n[${skipped} files were too large or could not be read]`] : []),
    sayCut(end),
  ].join("");
  if (matches.length === 0) return `no line matches ${pattern}${notes}`;
  return `${matches.slice(0, MATCHES).join("\n")}${notes}`;
}

interface Searched {
  readonly folder: Folder;
  readonly name: string;
  readonly below: string;
  readonly shown: string;
}

/** The file that was named, or all below the folder that was. */
async function* listSearched(
  scope: FileScope,
  { path, signal, end }: Asked & { readonly end: WalkEnd },
): AsyncGenerator<Searched> {
  const located = scope.locate(path);
  const shown = scope.name(located.real);
  if (lstatSync(located.real, { throwIfNoEntry: false })?.isFile() === true) {
    const { folder, name } = openPlace(scope, path);
    using _folder = folder;
    yield { folder, name, below: name, shown };
    return;
  }
  using top = scope.openFolder(located, path);
  for await (const { folder, name, path: below, isFolder } of walk(top, { signal, end }))
    if (!isFolder) yield { folder, name, below, shown: posix.join(shown, below) };
}

async function searchFile(
  search: Search,
  { folder, name, shown }: Omit<Searched, "below">,
): Promise<void> {
  const text = findSearchable(search, folder, name);
  if (text === undefined) return;
  const lines = text.split("\n").map((line) => line.slice(0, SEARCHED_CHARS).replace(/\r$/, ""));
  const hits = await findLines(search, lines);
  for (const hit of hits.slice(0, MATCHES_PER_FILE))
    search.matches.push(`${shown}:${hit + 1}: ${cutLine(lines[hit] ?? "")}`);
  if (hits.length > MATCHES_PER_FILE)
    search.matches.push(`${shown}: and ${hits.length - MATCHES_PER_FILE} more lines`);
}

async function findLines(
  { pattern, signal }: Search,
  lines: readonly string[],
): Promise<readonly number[]> {
  const hits: number[] = [];
  let pausedAt = performance.now();
  for (const [index, line] of lines.entries()) {
    if (pattern.test(line)) hits.push(index);
    if (performance.now() - pausedAt < SEARCH_MS) continue;
    await setImmediate(undefined, { signal });
    pausedAt = performance.now();
  }
  return hits;
}

/** Links, pipes and binary files are passed over in silence, as there are many and nobody means them. */
function findSearchable(search: Search, folder: Folder, name: string): string | undefined {
  if (lstatSync(folder.at(name), { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  try {
    const fd = folder.openFile(name, name);
    try {
      if (fstatSync(fd).size > SEARCHED_FILE_BYTES) throw new Error("too large to search");
      const bytes = openOr(() => readBytes(fd, { from: 0, length: SEARCHED_FILE_BYTES }), name);
      return isBinary(bytes) ? undefined : decodeText(bytes);
    } finally {
      closeSync(fd);
    }
  } catch {
    // Counted, so that nobody takes it for searched.
    search.skipped += 1;
    return undefined;
  }
}

function cutLine(line: string): string {
  if (line.length <= MATCH_CHARS) return line;
  return `${line.slice(0, MATCH_CHARS).toWellFormed()} [cut]`;
}

function sayCut({ isCut }: WalkEnd): string {
  return isCut ? "\n[there are too many files; not all were looked at]" : "";
}
