import { Store } from "#web/live/store.ts";
import type { Recording } from "./load-recording.ts";
import { createTimeline, IDLE_SECONDS, type Timeline } from "./timeline.ts";

export const SPEEDS = [0.5, 1, 2, 4, 8, 16] as const;

export interface PlayerState {
  /** Seconds of shown time. */
  readonly position: number;
  readonly duration: number;
  readonly isPlaying: boolean;
  readonly speed: number;
  /** Pauses are left out. */
  readonly isDense: boolean;
  /** How much of the way to another moment is drawn, 0 to 1; undefined when it is there. */
  readonly progress: number | undefined;
}

/** What it is drawn on. */
export interface PlayedScreen {
  reset(): void;
  /** Settles when there is room for more. */
  write(text: string): Promise<void>;
  resize(size: { readonly cols: number; readonly rows: number }): Promise<void>;
  remark(text: string): Promise<void>;
  settled(): Promise<void>;
}

interface PlayerClock {
  now(): number;
  /** Calls before the next frame is drawn. */
  onFrame(run: () => void): () => void;
}

/** Written in one go on the way to another moment; then others get their turn. */
const PIECE_CHARS = 128 * 1024;
const MS_PER_SECOND = 1000;
/** Of a frame that came late: a page that was hidden goes on where it was. */
const FRAME_SECONDS_MOST = 0.25;
const NOTHING_DRAWN = -1;

/**
 * Plays a recording. The screen is where `applied` events have brought it; whoever wants another moment sets it, and one
 * loop brings the screen there: on, or from the beginning when it lies behind. An emulator takes tens of megabytes a
 * second, so even the longest recording is back within a few, with a bar that says how far.
 */
export class Player implements Disposable {
  readonly state: Store<PlayerState>;
  readonly #recording: Recording;
  readonly #screen: PlayedScreen;
  readonly #clock: PlayerClock;
  #timeline: Timeline;
  #applied = NOTHING_DRAWN;
  #target = 0;
  #isMoving = false;
  #isOver = false;
  #stopFrames: (() => void) | undefined;
  #lastFrame = 0;

  constructor(recording: Recording, screen: PlayedScreen, clock: PlayerClock) {
    this.#recording = recording;
    this.#screen = screen;
    this.#clock = clock;
    this.#timeline = timelineOf(recording, true);
    this.state = new Store<PlayerState>({
      position: 0,
      duration: this.#timeline.duration,
      isPlaying: false,
      speed: 1,
      isDense: true,
      progress: undefined,
    });
  }

  /** Draws the beginning, or the moment that it is opened at, in recorded seconds. */
  start(at: number): Promise<void> {
    return this.seek(this.#timeline.show(at));
  }

  /** The moment that is shown, in recorded seconds. */
  get recordedAt(): number {
    return this.#timeline.record(this.state.get().position);
  }

  /** Settles when it is shown, or when somebody wants yet another moment. */
  seek(position: number): Promise<void> {
    const { duration } = this.state.get();
    const to = Math.min(duration, Math.max(0, position));
    this.#change({ position: to });
    this.#target = this.#timeline.countAt(to);
    return this.#move();
  }

  play(): void {
    const { isPlaying, position, duration } = this.state.get();
    if (isPlaying || this.#isOver) return;
    if (position >= duration) void this.seek(0);
    this.#change({ isPlaying: true });
    this.#lastFrame = this.#clock.now();
    this.#nextFrame();
  }

  pause(): void {
    this.#stopFrames?.();
    this.#stopFrames = undefined;
    this.#change({ isPlaying: false });
  }

  toggle(): void {
    if (this.state.get().isPlaying) this.pause();
    else this.play();
  }

  setSpeed(speed: number): void {
    this.#change({ speed });
  }

  /** The same moment stays shown. */
  setDense(isDense: boolean): void {
    const at = this.recordedAt;
    this.#timeline = timelineOf(this.#recording, isDense);
    const position = this.#timeline.show(at);
    this.#change({ isDense, duration: this.#timeline.duration, position });
  }

  /** Shown times at which the size changed. */
  get marks(): readonly number[] {
    const sizes = this.#recording.events.filter(({ kind }) => kind === "size");
    return sizes.map(({ at }) => this.#timeline.show(at));
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.pause();
  }

  #nextFrame(): void {
    this.#stopFrames = this.#clock.onFrame(() => this.#frame());
  }

  #frame(): void {
    const { position, speed, duration, isPlaying } = this.state.get();
    if (!isPlaying) return;
    if (!this.#isMoving && position >= duration) {
      this.pause();
      return;
    }
    // A screen that is behind is waited for: nothing is skipped.
    if (!this.#isMoving) {
      const now = this.#clock.now();
      const passed = Math.min(FRAME_SECONDS_MOST, (now - this.#lastFrame) / MS_PER_SECOND);
      this.#lastFrame = now;
      void this.seek(position + passed * speed);
    }
    this.#nextFrame();
  }

  async #move(): Promise<void> {
    if (this.#isMoving) return;
    this.#isMoving = true;
    try {
      while (!this.#isOver && this.#applied !== this.#target) await this.#step();
      await this.#screen.settled();
    } finally {
      this.#isMoving = false;
      this.#change({ progress: undefined });
    }
  }

  /** One piece of the way. */
  async #step(): Promise<void> {
    if (this.#target < this.#applied || this.#applied === NOTHING_DRAWN) await this.#begin();
    const target = this.#target;
    const from = this.#applied;
    const text: string[] = [];
    let chars = 0;
    while (this.#applied < target && chars < PIECE_CHARS) {
      const event = this.#recording.events[this.#applied];
      this.#applied += 1;
      if (event?.kind === "output") {
        text.push(event.text);
        chars += event.text.length;
        continue;
      }
      await this.#screen.write(text.splice(0).join(""));
      if (event?.kind === "size") await this.#screen.resize(event);
      if (event?.kind === "remark") await this.#screen.remark(event.text);
    }
    await this.#screen.write(text.join(""));
    const isLong = this.#applied < target;
    if (isLong || this.state.get().progress !== undefined)
      this.#change({ progress: this.#applied / Math.max(1, target, from) });
  }

  async #begin(): Promise<void> {
    const { cols, rows } = this.#recording.header;
    this.#applied = 0;
    await this.#screen.settled();
    this.#screen.reset();
    await this.#screen.resize({ cols, rows });
  }

  #change(change: Partial<PlayerState>): void {
    this.state.change((state) => ({ ...state, ...change }));
  }
}

function timelineOf({ events }: Recording, isDense: boolean): Timeline {
  const times = events.map(({ at }) => at);
  return createTimeline(times, isDense ? IDLE_SECONDS : Number.POSITIVE_INFINITY);
}
