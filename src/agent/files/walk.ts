import { type Dir, type Dirent, opendirSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { Folder } from "./file-scope.ts";
import { openOr } from "./file-scope.ts";

/** Folders that are full of what nobody looks for. */
const SKIPPED: readonly string[] = [".git", "node_modules"];
const ENTRIES = 100_000;
const DEPTH = 40;
const WALK_MS = 30_000;
/** Others get their turn in between. */
const PAUSE_EVERY_MS = 20;

interface Walked {
  readonly folder: Folder;
  readonly name: string;
  /** From where the walk began, with `/`. */
  readonly path: string;
  readonly isFolder: boolean;
}

export interface WalkEnd {
  /** Not everything was seen. */
  isCut: boolean;
}

interface Walk {
  readonly signal: AbortSignal;
  readonly end: WalkEnd;
  readonly deadline: number;
  seen: number;
  paused_at: number;
}

/** Every file and folder below one, sorted by name. Links are seen but never followed. */
export function walk(
  top: Folder,
  { signal, end }: { readonly signal: AbortSignal; readonly end: WalkEnd },
): AsyncGenerator<Walked> {
  const now = performance.now();
  const state = { signal, end, deadline: now + WALK_MS, seen: 0, paused_at: now };
  return walkBelow(state, top, { prefix: "", depth: 1 });
}

interface Level {
  readonly prefix: string;
  readonly depth: number;
}

async function* walkBelow(
  state: Walk,
  folder: Folder,
  { prefix, depth }: Level,
): AsyncGenerator<Walked> {
  for (const entry of listEntries(folder, prefix)) {
    if (!(await mayGoOn(state))) return;
    const { name } = entry;
    const path = `${prefix}${name}`;
    const isFolder = entry.isDirectory();
    if (isFolder && SKIPPED.includes(name)) continue;
    yield { folder, name, path, isFolder };
    if (!isFolder) continue;
    using inner = depth < DEPTH ? tryEnter(folder, name) : undefined;
    if (depth >= DEPTH) state.end.isCut = true;
    if (inner !== undefined)
      yield* walkBelow(state, inner, { prefix: `${path}/`, depth: depth + 1 });
  }
}

async function mayGoOn(state: Walk): Promise<boolean> {
  state.signal.throwIfAborted();
  state.seen += 1;
  const now = performance.now();
  if (state.seen > ENTRIES || now > state.deadline) {
    state.end.isCut = true;
    return false;
  }
  if (now - state.paused_at > PAUSE_EVERY_MS) {
    await setImmediate(undefined, { signal: state.signal });
    state.paused_at = performance.now();
  }
  return true;
}

/** By their names, so that the order is the same everywhere. Of a folder that holds very many, the first that come. */
export function listEntries(folder: Folder, path: string): Dirent[] {
  const entries = openOr(() => {
    using listing = opendirSync(folder.listing);
    return readEntries(listing);
  }, path);
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function readEntries(listing: Dir): Dirent[] {
  const entries: Dirent[] = [];
  for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
    if (entries.length >= ENTRIES) break;
    entries.push(entry);
  }
  return entries;
}

/** Gone, or not for us: a walk goes on beside it. */
function tryEnter(folder: Folder, name: string): Folder | undefined {
  try {
    return folder.enter(name);
  } catch {
    // Whatever keeps us out of one folder must not hide the others.
    return undefined;
  }
}
