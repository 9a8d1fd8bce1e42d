import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";

/** A second process of a test that speaks in lines. Killed at the end of the test if it is still there. */
export interface Child extends AsyncDisposable {
  /** The next line; throws when the child has ended. */
  line(): Promise<string>;
  send(line: string): void;
  kill(): Promise<void>;
}

export function openChild(script: string, args: readonly string[]): Child {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(
    process.execPath,
    [path, ...args],
    {
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  const closed = once(child, "close");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const kill = async () => {
    child.kill("SIGKILL");
    await closed;
  };
  return {
    line: async () => {
      const next = await lines.next();
      if (next.done) throw new Error(`${script} ended without an answer`);
      return next.value;
    },
    send: (line) => void child.stdin.write(`${line}\n`),
    kill,
    [Symbol.asyncDispose]: kill,
  };
}
