import type { ScreenAnswer, ScreenRequest } from "./requests.ts";
import { SessionScreen } from "./session-screen.ts";

interface CacheLimits {
  /** Emulators that are ready to go on. */
  readonly live: number;
  /** Their cells together, of 12 bytes each. */
  readonly cells: number;
  /** Sessions of which checkpoints are kept. */
  readonly sessions: number;
  readonly packedChars: number;
}

const cacheLimits: CacheLimits = {
  live: 64,
  cells: 8_000_000,
  sessions: 512,
  packedChars: 64 * 1024 * 1024,
};

interface Entry {
  readonly screen: SessionScreen;
  /** The requests of one session follow each other; those of others run between their steps. */
  last: Promise<unknown>;
  users: number;
}

/** The screens that somebody asked for, the least recently asked for first. */
export class ScreenCache implements Disposable {
  readonly #limits: CacheLimits;
  readonly #entries = new Map<string, Entry>();

  constructor(limits: CacheLimits = cacheLimits) {
    this.#limits = limits;
  }

  get liveCells(): number {
    return this.#sum((screen) => screen.cells);
  }

  get size(): number {
    return this.#entries.size;
  }

  async render(request: ScreenRequest): Promise<ScreenAnswer> {
    const entry = this.#touch(request);
    entry.users += 1;
    const answer = entry.last.then(() => entry.screen.render(request));
    // Whoever comes next waits for it, whatever became of it.
    entry.last = answer.catch(() => undefined);
    try {
      return await answer;
    } finally {
      entry.users -= 1;
      this.#makeRoom();
    }
  }

  [Symbol.dispose](): void {
    for (const { screen } of this.#entries.values()) screen[Symbol.dispose]();
    this.#entries.clear();
  }

  #touch({ session_id, folder }: ScreenRequest): Entry {
    const found = this.#entries.get(session_id);
    const entry = found ?? {
      screen: new SessionScreen(folder),
      last: Promise.resolve(),
      users: 0,
    };
    this.#entries.delete(session_id);
    this.#entries.set(session_id, entry);
    return entry;
  }

  #makeRoom(): void {
    const { live, cells, sessions, packedChars } = this.#limits;
    const idle = [...this.#entries].filter(([, { users }]) => users === 0);
    for (const [, { screen }] of idle) {
      if (this.#sum(({ cells: own }) => Math.sign(own)) <= live && this.liveCells <= cells) break;
      screen.rest();
    }
    for (const [id, { screen }] of idle) {
      const packed = this.#sum(({ packedChars: own }) => own);
      if (this.#entries.size <= sessions && packed <= packedChars) break;
      screen[Symbol.dispose]();
      this.#entries.delete(id);
    }
  }

  #sum(count: (screen: SessionScreen) => number): number {
    let sum = 0;
    for (const { screen } of this.#entries.values()) sum += count(screen);
    return sum;
  }
}
