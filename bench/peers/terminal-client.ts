import { spawn } from "@lydell/node-pty";
import { owned } from "#bench/lib/owned.ts";

/** A program on a terminal of ours, such as `tmux` or `reins attach`: what a person would sit in front of. */
export interface TerminalClient extends AsyncDisposable {
  /** Resolves with the time at which the text came; what came before the call does not count. */
  until(text: string): Promise<number>;
  type(text: string): void;
}

export interface ClientProgram {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const COLS = 80;
const ROWS = 24;
const STALL_MS = 120_000;
const SHOWN_BYTES = 300;

export function openTerminalClient({ argv, env }: ClientProgram): TerminalClient {
  const [program = "", ...args] = argv;
  const pty = spawn(program, args, { cols: COLS, rows: ROWS, encoding: null, env: { ...env } });
  let waiting: { readonly text: Buffer; resolve(at: number): void } | undefined;
  let seen = Buffer.alloc(0);
  // With no encoding it gives bytes, though its types say otherwise.
  pty.onData((data) => {
    const bytes = data as unknown as Buffer;
    if (waiting === undefined) return;
    const held = Buffer.concat([seen, bytes]);
    if (held.includes(waiting.text)) waiting.resolve(performance.now());
    // A text may come in two pieces.
    seen = held.subarray(Math.max(0, held.length - SHOWN_BYTES));
  });
  const ended = Promise.withResolvers<void>();
  pty.onExit(() => ended.resolve());
  const resource = owned(async () => {
    pty.kill("SIGKILL");
    await ended.promise;
  });
  return {
    until: async (text) => {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      seen = Buffer.alloc(0);
      waiting = { text: Buffer.from(text), resolve };
      const fail = (why: string) =>
        reject(new Error(`${argv.join(" ")} ${why}: ${JSON.stringify(seen.toString("latin1"))}`));
      const stall = setTimeout(() => fail(`never says ${text}`), STALL_MS);
      void ended.promise.then(() => fail(`ended before it said ${text}`));
      try {
        return await promise;
      } finally {
        clearTimeout(stall);
        waiting = undefined;
      }
    },
    type: (text) => pty.write(text),
    ...resource,
  };
}
