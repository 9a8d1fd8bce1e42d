import { Duplex } from "node:stream";
import type { Clock } from "#base/clock.ts";

export interface PairOptions {
  readonly clock: Clock;
  /** How long each piece is under way; 0 = it arrives in the next turn. */
  readonly delayMs?: number;
  /** Splits what is written, by numbers from 0 to 1. Absent = each write arrives whole. */
  readonly random?: () => number;
}

export interface MemoryPair {
  readonly near: Duplex;
  readonly far: Duplex;
  /** Ends both ends. Pieces that are under way are lost. */
  cut(): void;
  /** The same, after everything but the last piece toward `near` has arrived. */
  loseLast(): void;
}

/** The most bytes of a piece, where short writes are split. */
const PIECE_BYTES = 64;
/** About as many pieces become of a long write. */
const PIECES = 16;
/** Under way to an end; a writer waits when there are more, as at a socket. */
const UNDER_WAY_BYTES = 256 * 1024;

/**
 * Two ends of a connection in memory, for tests. Bytes written to one end are read from the other, in order, whole or in
 * pieces, at once or after a delay. The same clock and the same numbers give the same pieces at the same times.
 *
 *     near.write ──► pieces under way ──► far.read        cut(): both ends close, pieces under way are lost
 */
export function createMemoryPair(options: PairOptions): MemoryPair {
  const near: End = createEnd(options, () => far);
  const far: End = createEnd(options, () => near);
  const cut = () => {
    near.stream.destroy();
    far.stream.destroy();
  };
  return {
    near: near.stream,
    far: far.stream,
    cut,
    loseLast: () => {
      far.arrive(0);
      near.arrive(1);
      cut();
    },
  };
}

interface End {
  readonly stream: Duplex;
  send(piece: Buffer): void;
  /** Calls back when the reader has taken enough for more to be sent. */
  whenRoom(run: () => void): void;
  end(): void;
  /** Everything that is under way arrives now, but for the last pieces. */
  arrive(without: number): void;
}

function createEnd(options: PairOptions, other: () => End): End {
  const { clock, delayMs = 0 } = options;
  const underWay: Buffer[] = [];
  const timers = new Set<Disposable>();
  const later = (run: () => void) => {
    if (delayMs === 0) {
      setImmediate(run);
      return;
    }
    const timer = clock.timer(delayMs, () => {
      timers.delete(timer);
      run();
    });
    timers.add(timer);
  };
  let bytesUnderWay = 0;
  let isFull = false;
  const waiting: (() => void)[] = [];
  const letWriters = () => {
    while (!isFull && bytesUnderWay < UNDER_WAY_BYTES) {
      const run = waiting.shift();
      if (run === undefined) return;
      run();
    }
  };
  const push = (piece: Buffer | null | undefined) => {
    bytesUnderWay -= piece?.length ?? 0;
    if (piece !== undefined && !stream.destroyed) isFull = !stream.push(piece);
    letWriters();
  };
  const stream = new Duplex({
    allowHalfOpen: false,
    read: () => {
      isFull = false;
      letWriters();
    },
    write: (chunk: Buffer, _encoding, done) => {
      for (const piece of split(chunk, options.random)) other().send(piece);
      other().whenRoom(done);
    },
    final: (done) => {
      other().end();
      done();
    },
    destroy: (error, done) => {
      for (const timer of timers) timer[Symbol.dispose]();
      other().end();
      done(error);
    },
  });
  return {
    stream,
    send: (piece) => {
      underWay.push(piece);
      bytesUnderWay += piece.length;
      later(() => push(underWay.shift()));
    },
    whenRoom: (run) => {
      waiting.push(run);
      letWriters();
    },
    end: () => later(() => push(null)),
    arrive: (without) => {
      while (underWay.length > without) push(underWay.shift());
    },
  };
}

function* split(chunk: Buffer, random: (() => number) | undefined): Generator<Buffer> {
  const most = Math.max(PIECE_BYTES, Math.ceil((2 * chunk.length) / PIECES));
  for (let at = 0; at < chunk.length; ) {
    const length = random === undefined ? chunk.length : 1 + Math.floor(random() * most);
    yield Buffer.from(chunk.subarray(at, at + length));
    at += length;
  }
}
