import { join } from "node:path";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { type LogFiles, openLogFiles } from "#log/log-files.ts";
import { Emulator, isSameSize, isTooLarge } from "#screen/emulator/emulator.ts";
import { encodeState } from "#screen/emulator/state.ts";
import { renderText } from "#screen/emulator/text.ts";
import { findCheckpoint, saveCheckpoint } from "./checkpoint-file.ts";
import { findFirstSize } from "./first-size.ts";
import { type Checkpoint, LogReplay, layDown, pickUp, type Replay } from "./replay.ts";
import type { ScreenAnswer, ScreenRequest } from "./requests.ts";

/** Between two checkpoints: what a look back costs at most. */
const CHECKPOINT_BYTES = 4 * 1024 * 1024;
/** As far back as the log goes. */
const CHECKPOINTS = limits.output_retained_bytes / CHECKPOINT_BYTES;
/** A history that takes longer to draw is drawn in several goes. */
const REQUEST_MS = 20_000;

interface SessionScreenOptions {
  readonly checkpointBytes?: number;
  readonly requestMs?: number;
}

/**
 * One session's screen: an emulator that follows the log, and checkpoints behind it. Who asks for what is ahead of
 * the emulator moves it on; who asks for what is behind it gets one of his own, from the checkpoint before.
 */
export class SessionScreen implements Disposable {
  readonly #folder: string;
  readonly #log: LogFiles;
  #live: LogReplay | undefined;
  #checkpoints: Checkpoint[] = [];
  #isLoaded = false;
  #savedOffset = 0;

  readonly #checkpointBytes: number;
  readonly #requestMs: number;

  constructor(
    folder: string,
    { checkpointBytes = CHECKPOINT_BYTES, requestMs = REQUEST_MS }: SessionScreenOptions = {},
  ) {
    this.#folder = folder;
    this.#checkpointBytes = checkpointBytes;
    this.#requestMs = requestMs;
    this.#log = openLogFiles(join(folder, "output"));
  }

  get cells(): number {
    return this.#live?.emulator.cells ?? 0;
  }

  get packedChars(): number {
    return this.#checkpoints.reduce((sum, { packed }) => sum + packed.length, 0);
  }

  async render(request: ScreenRequest): Promise<ScreenAnswer> {
    const to = request.at ?? request.tail;
    if (to > request.tail) throw this.#outOfRange(to, request.tail);
    const isBehind = this.#live !== undefined && to < this.#live.offset;
    const replay = isBehind ? this.#openBefore(request, to) : this.#moveUp(request, to);
    try {
      await replay.advance({
        log: this.#log,
        to,
        tail: request.tail,
        sizeAtTail: request.sizeAtTail,
        deadline: performance.now() + this.#requestMs,
        onStep: () => (isBehind ? undefined : this.#checkpointSometimes(replay)),
      });
      return draw(replay, request, to);
    } finally {
      if (isBehind) replay[Symbol.dispose]();
      else this.#save();
      // A session can be removed at any time; what is held open would keep its room on the disk.
      this.#log[Symbol.dispose]();
    }
  }

  /** Lays the emulator down: what it takes to go on is kept. */
  rest(): void {
    const live = this.#live;
    if (live === undefined) return;
    if (live.emulator.isAtRest) this.#keep(layDown(live));
    this.#live = undefined;
    live[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.#live?.[Symbol.dispose]();
    this.#live = undefined;
    this.#log[Symbol.dispose]();
  }

  #moveUp(request: ScreenRequest, to: number): LogReplay {
    const live = this.#live;
    const nearest = this.#findCheckpoint(request, to);
    if (live !== undefined && live.offset >= (nearest?.offset ?? 0)) return live;
    live?.[Symbol.dispose]();
    this.#live = this.#openBefore(request, to);
    return this.#live;
  }

  #openBefore(request: ScreenRequest, to: number): LogReplay {
    const nearest = this.#findCheckpoint(request, to);
    if (nearest !== undefined) return pickUp(nearest);
    const { convertEol } = request;
    const size = this.#firstSize(request);
    return new LogReplay({ emulator: new Emulator({ size, convertEol }), size, convertEol });
  }

  #firstSize({ convertEol, sizeAtTail }: ScreenRequest): { cols: number; rows: number } {
    if (convertEol) return sizeAtTail;
    using events = openLogFiles(join(this.#folder, "events"));
    return findFirstSize(events) ?? sizeAtTail;
  }

  #findCheckpoint({ tail }: ScreenRequest, to: number): Checkpoint | undefined {
    if (!this.#isLoaded) {
      this.#isLoaded = true;
      const saved = findCheckpoint(this.#folder, tail);
      this.#savedOffset = saved?.offset ?? 0;
      if (saved !== undefined) this.#checkpoints = [saved];
    }
    return this.#checkpoints.findLast(({ offset }) => offset <= to);
  }

  #checkpointSometimes(replay: LogReplay): void {
    const last = this.#checkpoints.at(-1)?.offset ?? 0;
    if (replay.offset - last >= this.#checkpointBytes && replay.emulator.isAtRest)
      this.#keep(layDown(replay));
  }

  #keep(checkpoint: Checkpoint): void {
    if (checkpoint.offset <= (this.#checkpoints.at(-1)?.offset ?? 0)) return;
    this.#checkpoints.push(checkpoint);
    if (this.#checkpoints.length > CHECKPOINTS) this.#checkpoints.shift();
  }

  #save(): void {
    const newest = this.#checkpoints.at(-1);
    if (newest === undefined || newest.offset - this.#savedOffset < this.#checkpointBytes) return;
    saveCheckpoint(this.#folder, newest);
    this.#savedOffset = newest.offset;
  }

  #outOfRange(at: number, tail: number): Fault {
    const first = this.#log.first();
    const message = `There is no offset ${at} in this log: it begins at ${first} and ends at ${tail}. Leave it out to see the screen as it is now.`;
    return new Fault("offset_out_of_range", message, { details: { tail, first } });
  }
}

function draw(replay: Replay, request: ScreenRequest, to: number): ScreenAnswer {
  if (request.format === "none") return { offset: replay.offset };
  const size = to === request.tail ? request.sizeAtTail : replay.size;
  if (isTooLarge(size)) throw tooLarge(size);
  if (isSameSize(size, replay.size)) return drawNow(replay, request);
  // A resize at the very tail may be followed by another one there; only the last will have been. So it is tried on
  // a copy.
  using copy = pickUp(layDown(replay));
  copy.resize(size);
  return drawNow(copy, request);
}

function drawNow(replay: Replay, { format }: ScreenRequest): ScreenAnswer {
  const { emulator, restOffset, exact } = replay;
  const place = { offset: restOffset, ...emulator.size, exact };
  if (format === "state") return { ...place, state: encodeState(emulator) };
  return { ...place, ...renderText(emulator) };
}

function tooLarge({ cols, rows }: { readonly cols: number; readonly rows: number }): Fault {
  const message = `a terminal of ${cols} x ${rows} is too large to be drawn; up to ${limits.screen_cols} x ${limits.screen_rows} it can be. Read its output instead, or resize it.`;
  return new Fault("unsupported", message, { details: { cols, rows } });
}
