import { setImmediate } from "node:timers/promises";
import { Fault } from "#contract/fault.ts";
import type { LogFiles } from "#log/log-files.ts";
import { Emulator, isTooLarge, type ScreenSize } from "#screen/emulator/emulator.ts";
import { openFromSnapshot, takeSnapshot } from "#screen/emulator/snapshot.ts";
import { packSnapshot, unpackSnapshot } from "#screen/emulator/snapshot-codec.ts";

/** A place in a log and the screen there: an emulator that goes on with what follows. */
export interface Replay extends Disposable {
  readonly emulator: Emulator;
  readonly offset: number;
  /** The last place up to there at which nothing is unfinished: who goes on from this screen goes on from there. */
  readonly restOffset: number;
  /** False when something is missing of what shaped it. */
  readonly exact: boolean;
  /** What the terminal was told; the emulator's own is smaller when that is too large to render. */
  readonly size: ScreenSize;
  readonly convertEol: boolean;
}

/** A replay laid down, to go on from later. */
export interface Checkpoint {
  readonly offset: number;
  readonly exact: boolean;
  readonly size: ScreenSize;
  readonly packed: string;
}

/** Read at once. */
const CHUNK_BYTES = 64 * 1024;
/** Parsed at once: three bytes can clear a whole screen. Less when it turns out to be slow. */
const SLICE_BYTES = 1024;
const LEAST_SLICE_BYTES = 64;
/** Before other sessions get their turn. */
const TURN_MS = 8;

interface Journey {
  readonly log: LogFiles;
  /** Where to stop; at most the tail. */
  readonly to: number;
  readonly tail: number;
  /** The size that the terminal has at the tail. */
  readonly sizeAtTail: ScreenSize;
  /** Time to give up at; what was reached stays. */
  readonly deadline: number;
  /** Called between two chunks, with everything up to here applied. */
  readonly onStep: () => void;
}

export class LogReplay implements Replay {
  readonly convertEol: boolean;
  #emulator: Emulator;
  #offset: number;
  #exact: boolean;
  #size: ScreenSize;
  #rest: number;
  #sliceBytes = SLICE_BYTES;
  readonly #into = Buffer.allocUnsafe(CHUNK_BYTES);

  constructor(from: {
    readonly emulator: Emulator;
    readonly size: ScreenSize;
    readonly convertEol: boolean;
    readonly offset?: number;
    readonly exact?: boolean;
  }) {
    this.#emulator = from.emulator;
    this.#size = from.size;
    this.convertEol = from.convertEol;
    this.#offset = from.offset ?? 0;
    this.#rest = this.#offset;
    this.#exact = (from.exact ?? true) && !isTooLarge(from.size);
  }

  get emulator(): Emulator {
    return this.#emulator;
  }

  get offset(): number {
    return this.#offset;
  }

  get restOffset(): number {
    return this.#rest;
  }

  get exact(): boolean {
    return this.#exact;
  }

  get size(): ScreenSize {
    return this.#size;
  }

  /** Throws `busy` when it takes too long; then the next one goes on from where it came to. */
  async advance(journey: Journey): Promise<void> {
    // Disposed when it is left early: it holds a file open.
    using resizes = resizesOf(journey.log, this.#offset, journey.to);
    let next = resizes.next();
    let turnEnd = performance.now() + TURN_MS;
    for (;;) {
      while (!next.done && next.value.offset <= this.#offset) {
        this.resize(next.value);
        next = resizes.next();
      }
      if (this.#offset >= journey.to) return;
      const end = Math.min(journey.to, next.done ? journey.to : next.value.offset);
      this.#step(journey, { end, turnEnd });
      journey.onStep();
      if (performance.now() < turnEnd) continue;
      await setImmediate();
      if (performance.now() > journey.deadline) throw tooSlow(this.#offset, journey.to);
      turnEnd = performance.now() + TURN_MS;
    }
  }

  resize(size: ScreenSize): void {
    this.#size = { cols: size.cols, rows: size.rows };
    if (isTooLarge(size)) this.#exact = false;
    this.#emulator.resize(size);
  }

  [Symbol.dispose](): void {
    this.#emulator[Symbol.dispose]();
  }

  #step(
    journey: Journey,
    { end, turnEnd }: { readonly end: number; readonly turnEnd: number },
  ): void {
    const { log, tail } = journey;
    const limit = Math.min(CHUNK_BYTES, end - this.#offset);
    const chunk = log.read(this.#offset, { limit, tail, into: this.#into });
    if (chunk === undefined) {
      this.#offset = end;
      return;
    }
    if (chunk.kind === "gap") {
      this.#startAnew(journey, Math.min(chunk.to, journey.to));
      return;
    }
    let now = performance.now();
    for (let at = 0; at < chunk.bytes.length; ) {
      const slice = chunk.bytes.subarray(at, at + this.#sliceBytes);
      this.#feed(journey, slice);
      at += slice.length;
      const then = now;
      now = performance.now();
      this.#sliceBytes =
        now - then > TURN_MS
          ? Math.max(LEAST_SLICE_BYTES, Math.floor(this.#sliceBytes / 4))
          : Math.min(SLICE_BYTES, this.#sliceBytes * 2);
      if (now > turnEnd) return;
    }
  }

  #feed(journey: Journey, bytes: Uint8Array): void {
    try {
      this.#emulator.write(bytes);
      this.#offset += bytes.length;
      this.#rest = this.#offset - this.#emulator.pendingBytes;
    } catch {
      // Some sequence that the emulator fails on: what follows is shown, what was before is lost.
      this.#startAnew(journey, this.#offset + bytes.length);
    }
  }

  /** Behind a hole in the log: an empty screen of the size that is known best, and the title as it was. */
  #startAnew({ log, tail, sizeAtTail }: Journey, offset: number): void {
    const [later] = resizesOf(log, offset, tail);
    if (later === undefined) this.#size = sizeAtTail;
    const title = this.#emulator.core._inputHandler._windowTitle;
    this.#emulator[Symbol.dispose]();
    this.#emulator = new Emulator({ size: this.#size, convertEol: this.convertEol });
    this.#emulator.core._inputHandler._windowTitle = title;
    this.#offset = offset;
    this.#rest = offset;
    this.#exact = false;
  }
}

export function layDown(replay: Replay): Checkpoint {
  const { emulator, restOffset: offset, exact, size, convertEol } = replay;
  return { offset, exact, size, packed: packSnapshot(takeSnapshot(emulator, convertEol)) };
}

export function pickUp(checkpoint: Checkpoint): LogReplay {
  const snapshot = unpackSnapshot(checkpoint.packed);
  const emulator = openFromSnapshot(snapshot);
  return new LogReplay({ ...checkpoint, emulator, convertEol: snapshot.convertEol });
}

interface Resize extends ScreenSize {
  readonly offset: number;
}

/** Of several at one place only the last: nothing was printed between them. */
function* resizesOf(log: LogFiles, from: number, to: number): Generator<Resize, void, void> {
  let last: Resize | undefined;
  for (const record of log.records(from, to + 1)) {
    if (record.kind !== "resize") continue;
    if (last !== undefined && last.offset !== record.offset) yield last;
    last = record;
  }
  if (last !== undefined) yield last;
}

function tooSlow(offset: number, to: number): Fault {
  const message = `drawing this screen takes long: ${to - offset} bytes are left; ask again, it goes on from there`;
  return new Fault("busy", message, { details: { offset, to } });
}
