import { createHash } from "node:crypto";
import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { isErrno } from "#base/errno.ts";

export type Encoding = "br" | "gzip" | "identity";

/** One file of the built page, with what a browser is told of it. */
export interface PageFile {
  readonly type: string;
  /** Its name has a hash of its content in it: what was once loaded never changes. */
  readonly isImmutable: boolean;
  /** Of the content as it is. */
  readonly hash: string;
  readonly bodies: Readonly<Partial<Record<Encoding, Buffer>>> & { readonly identity: Buffer };
}

/** Path of the address → file. What is not in here is not served, so no path leads anywhere else. */
export type PageFiles = ReadonlyMap<string, PageFile>;

/** A built page has about a hundred files of a few MiB together; what has more is some other folder. */
const MOST_FILES = 2000;
const MOST_BYTES = 64 * 1024 * 1024;

const INDEX = "/index.html";
const COMPRESSED = { ".br": "br", ".gz": "gzip" } as const satisfies Record<string, Encoding>;
const HASHED = /^\/assets\/.*-[\w-]{8}\.\w+$/;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".txt": "text/plain; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
  ".wasm": "application/wasm",
};

/** Reads all of it; undefined where no page was built. */
export function readPageFiles(folder: string): PageFiles | undefined {
  const paths = listPlainFiles(folder);
  const bodies = new Map(readBodies(folder, paths));
  const files = new Map<string, PageFile>();
  for (const [path, identity] of bodies) {
    if (isCompressed(path, bodies)) continue;
    const [br, gzip] = [bodies.get(`${path}.br`), bodies.get(`${path}.gz`)];
    files.set(path, {
      type: TYPES[extname(path)] ?? "application/octet-stream",
      isImmutable: HASHED.test(path),
      hash: createHash("sha256").update(identity).digest("base64url").slice(0, 22),
      bodies: { identity, ...(br && { br }), ...(gzip && { gzip }) },
    });
  }
  const index = files.get(INDEX);
  return index === undefined ? undefined : files.set("/", index);
}

function isCompressed(path: string, bodies: ReadonlyMap<string, Buffer>): boolean {
  const extension = extname(path);
  return extension in COMPRESSED && bodies.has(path.slice(0, -extension.length));
}

/** Plain files alone: a link would lead out of the folder. Names with a dot are notes of the build. */
function listPlainFiles(folder: string): string[] {
  const isServed = (entry: Dirent) => entry.isFile() && !entry.name.startsWith(".");
  try {
    const entries = readdirSync(folder, { withFileTypes: true, recursive: true }).filter(isServed);
    if (entries.length > MOST_FILES) throw tooLarge(folder);
    return entries.map(({ parentPath, name }) => join(parentPath, name));
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}

function* readBodies(folder: string, paths: readonly string[]): Generator<[string, Buffer]> {
  const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
  if (bytes > MOST_BYTES) throw tooLarge(folder);
  for (const path of paths)
    yield [`/${relative(folder, path).replaceAll(sep, "/")}`, readFileSync(path)];
}

function tooLarge(folder: string): Error {
  return new Error(`${folder} is no built page: it has more than ${MOST_FILES} files or 64 MiB`);
}
