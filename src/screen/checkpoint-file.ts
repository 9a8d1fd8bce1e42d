import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { errnoOf } from "#base/errno.ts";
import { READABLE_FORMATS, SNAPSHOT_FORMAT } from "#screen/emulator/snapshot-codec.ts";
import { type Checkpoint, pickUp } from "./replay.ts";

/** Beside the session's logs, and removed with them. */
export const CHECKPOINT_FILE = "screen.json";

/** The newest checkpoint, for the next process. A disk that is full or a session that is gone costs only time later. */
export function saveCheckpoint(folder: string, checkpoint: Checkpoint): void {
  try {
    const content = JSON.stringify({ format: SNAPSHOT_FORMAT, ...checkpoint });
    writeFileAtomic(join(folder, CHECKPOINT_FILE), content);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
  }
}

/** Undefined when there is none that this version can go on from. */
export function findCheckpoint(folder: string, tail: number): Checkpoint | undefined {
  try {
    const found: Checkpoint & { readonly format: unknown } = JSON.parse(
      readFileSync(join(folder, CHECKPOINT_FILE), "utf8"),
    );
    const { format, offset, exact, size, packed } = found;
    if (!READABLE_FORMATS.includes(format) || !(offset >= 0 && offset <= tail)) return undefined;
    const checkpoint = { offset, exact, size, packed };
    // Whatever is wrong with it shows here.
    using _replay = pickUp(checkpoint);
    return checkpoint;
  } catch {
    // Missing, torn or damaged: the log says it all again.
    return undefined;
  }
}
