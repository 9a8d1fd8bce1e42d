import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isErrno } from "#base/errno.ts";
import { openTempDir } from "./temp-dir.ts";
import type { TempHost } from "./temp-host.ts";

export interface ElusiveOptions {
  readonly kind: keyof typeof programs;
  readonly trees: number;
}

export interface ElusiveTrees {
  /** Trees of which a process still ran when the close was answered. */
  readonly left: number;
  /** Those of them that the close named no survivor for. */
  readonly unnamed: number;
  readonly close_ms: number;
}

/** So many at a time: the chains keep a processor busy each. */
const BATCH = 5;
const START_MS = 30_000;
const POLL_MS = 10;

const HEAD = `import ctypes, os, signal, sys, threading, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
held = os.open(sys.argv[1], os.O_WRONLY)
os.write(held, b"x")
def goes(): return not os.path.exists(sys.argv[2])
`;

/** Each holds a FIFO open for as long as one of its processes lives, and ends by itself once the other file is there. */
const programs = {
  /** The kernel shows it as a zombie: its first thread has exited. */
  headless: `${HEAD}
def run():
    while goes(): time.sleep(0.2)
threading.Thread(target=run).start()
ctypes.CDLL(None).pthread_exit(None)`,
  /** Forks and exits every one to three milliseconds. */
  chain: `${HEAD}
while goes():
    if os.fork(): os._exit(0)
    time.sleep(0.001 + os.getpid() % 3 / 1000)`,
  /** Forks and exits as fast as it can. */
  "tight chain": `${HEAD}
while goes():
    if os.fork(): os._exit(0)`,
};

/** Starts trees that a look at the process table misses, closes them and asks their FIFOs whether a process is left. */
export async function closeElusiveTrees(
  host: TempHost,
  { kind, trees }: ElusiveOptions,
): Promise<ElusiveTrees> {
  await using dir = openTempDir();
  const stop = join(dir.path, "stop");
  const script = join(dir.path, "tree.py");
  writeFileSync(script, programs[kind]);
  let left = 0;
  let unnamed = 0;
  let close_ms = 0;
  for (let done = 0; done < trees; done += BATCH) {
    const numbers = Array.from(
      { length: Math.min(BATCH, trees - done) },
      (_, index) => done + index,
    );
    const opened = await Promise.all(
      numbers.map((number) =>
        openTree(host, { fifo: join(dir.path, String(number)), script, stop }),
      ),
    );
    const started = performance.now();
    const closed = await Promise.all(opened.map((tree) => tree.close()));
    close_ms = Math.max(close_ms, performance.now() - started);
    left += closed.filter(({ isLeft }) => isLeft).length;
    unnamed += closed.filter(({ isLeft, survivors }) => isLeft && survivors === 0).length;
  }
  writeFileSync(stop, "");
  return { left, unnamed, close_ms };
}

async function openTree(
  host: TempHost,
  files: { readonly fifo: string; readonly script: string; readonly stop: string },
) {
  execFileSync("mkfifo", [files.fifo]);
  const fd = openSync(files.fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  // Without its environment and in a session of its own; the shell that started it stays.
  const line = `env -i setsid python3 ${files.script} ${files.fifo} ${files.stop} & wait; sleep 1000`;
  const { session_id } = await host.create({ kind: "command", argv: ["sh", "-c", line] });
  const until = performance.now() + START_MS;
  while (readFifo(fd) !== "byte") {
    if (performance.now() > until) throw new Error("a tree did not start");
    await sleep(POLL_MS);
  }
  // The first process of a tree speaks before it begins to fork.
  await sleep(POLL_MS);
  return {
    async close() {
      const { state } = await host.client.call("session.close", { session_id });
      const isLeft = readFifo(fd) === "held";
      closeSync(fd);
      const survivors = state.kind === "exited" ? (state.survivors?.length ?? 0) : 0;
      return { isLeft, survivors };
    },
  };
}

/** The end of a FIFO is read only when no process holds it open. */
function readFifo(fd: number): "byte" | "held" | "end" {
  try {
    return readSync(fd, Buffer.alloc(1)) === 1 ? "byte" : "end";
  } catch (error) {
    if (isErrno(error, "EAGAIN")) return "held";
    throw error;
  }
}
