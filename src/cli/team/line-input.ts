import { createInterface, type Interface } from "node:readline";

export type Heard = { readonly line: string } | "end" | "over";

export interface AskOptions {
  /** Nobody needs the answer any more: `over`. */
  readonly signal?: AbortSignal;
  /** What was typed before the question is no answer to it. */
  readonly fresh?: boolean;
}

const TYPED_AHEAD = 1000;
/** To the end of what is typed, and away with it. */
const CLEAR_LINE = [
  { ctrl: true, name: "e" },
  { ctrl: true, name: "u" },
] as const;

/** Lines of a person at this terminal. `end` is Ctrl-D. */
export class LineInput implements Disposable {
  readonly #lines: string[] = [];
  readonly #readline: Interface;
  #wake: (() => void) | undefined;
  #hasEnded = false;

  constructor(onInterrupt: () => void) {
    const { stdin: input, stdout: output } = process;
    this.#readline = createInterface({ input, output, terminal: true, historySize: TYPED_AHEAD });
    this.#readline.on("line", (line) => {
      if (this.#lines.length < TYPED_AHEAD) this.#lines.push(line);
      this.#wake?.();
    });
    this.#readline.on("close", () => {
      this.#hasEnded = true;
      this.#wake?.();
    });
    // In raw mode it is a key and no signal.
    this.#readline.on("SIGINT", () => {
      this.#clearLine();
      onInterrupt();
    });
  }

  async ask(question: string, { signal, fresh = false }: AskOptions = {}): Promise<Heard> {
    if (fresh && !this.#hasEnded) {
      this.#lines.length = 0;
      // Also what has no end yet: the key that ends it would make it an answer.
      this.#clearLine();
    }
    this.#readline.setPrompt(question);
    if (this.#lines.length === 0 && !this.#hasEnded) this.#readline.prompt();
    for (;;) {
      if (signal?.aborted === true) return "over";
      const line = this.#lines.shift();
      if (line !== undefined) return { line };
      if (this.#hasEnded) return "end";
      await this.#change(signal);
    }
  }

  #clearLine(): void {
    for (const key of CLEAR_LINE) this.#readline.write(null, key);
    // On a terminal that knows no such keys.
    Object.assign(this.#readline, { line: "", cursor: 0 });
  }

  async #change(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    signal?.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    this.#wake = undefined;
  }

  [Symbol.dispose](): void {
    this.#readline.close();
  }
}
