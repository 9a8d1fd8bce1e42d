import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Writable } from "node:stream";
import { findSpawnRefusal } from "#base/spawn-refusal.ts";
import { findDataDir, ownCommand } from "#cli/program/context.ts";
import { notice } from "#cli/program/exit.ts";
import { asFault, Fault, type FaultBody, fromFaultBody } from "#contract/fault.ts";
import { openDataDir } from "#host/data-dir.ts";
import { withoutMarks } from "#proc/environment.ts";
import type { ListenFlags } from "./listen-options.ts";

/** A process of its own that listens already and waits to be told the session; disposing ends it unless it was told. */
export interface PendingListener extends Disposable {
  readonly address: string;
  /** Once it serves the session it belongs to nobody. */
  serve(sessionId: string): Promise<void>;
}

type Line =
  | { readonly listening: string }
  | { readonly serving: string }
  | { readonly error: FaultBody };

const START_LIMIT_MS = 20_000;

/** Listens before anything is started: a port that is taken leaves nothing behind. */
export async function openListener(flags: ListenFlags): Promise<PendingListener> {
  const { child, id } = await startListener(describeArguments(flags));
  const lines = new LineReader(child);
  // It has died under us: that it says nothing more tells so.
  id.on("error", () => undefined);
  const stop = () => {
    // Its stdin ends, and by that it does.
    id.destroy();
    lines[Symbol.dispose]();
    child.unref();
  };
  try {
    const line = await lines.next();
    if (!("listening" in line)) throw notStarted("it said something else");
    return {
      address: line.listening,
      serve: async (sessionId) => {
        id.end(`${sessionId}\n`);
        notice(await describeStart(lines, { sessionId, address: line.listening }));
      },
      [Symbol.dispose]: stop,
    };
  } catch (error) {
    stop();
    throw error;
  }
}

/** The run is there and goes on, with its own address or without. */
async function describeStart(
  lines: LineReader,
  { sessionId, address }: { readonly sessionId: string; readonly address: string },
): Promise<string> {
  try {
    await lines.next();
    return `${sessionId} is served at ${address}`;
  } catch (error) {
    return `${sessionId} goes on, but is not served: ${asFault(error).message}`;
  }
}

function describeArguments(flags: ListenFlags): string[] {
  const { listen, "tls-cert": cert, "tls-key": key, "allow-insecure": isAllowed } = flags;
  // The process runs elsewhere: what is relative is so to here.
  const isSocket = !listen.startsWith("unix:") && listen.includes("/");
  return [
    ...["serve", "--only", "-", "--data-dir", findDataDir()],
    ...["--listen", isSocket ? resolve(listen) : listen],
    ...(cert === undefined ? [] : ["--tls-cert", resolve(cert)]),
    ...(key === undefined ? [] : ["--tls-key", resolve(key)]),
    ...(isAllowed === true ? ["--allow-insecure"] : []),
  ];
}

/** Like the host: in a session of its own, without a terminal, and not as our child; so nobody's end takes it along. */
async function startListener(words: readonly string[]) {
  const dir = openDataDir(findDataDir());
  const log = openSync(dir.hostLog, "a", 0o600);
  try {
    // A shell gives what it starts behind its back no stdin; so ours comes by another number.
    const script = '"$0" "$@" <&3 3<&- &';
    const child = spawn("/bin/sh", ["-c", script, ...ownCommand(), ...words], {
      cwd: "/",
      detached: true,
      env: withoutMarks(process.env),
      stdio: ["ignore", "pipe", log, "pipe"],
    });
    const refusal = findSpawnRefusal(child);
    if (refusal !== undefined) throw await refusal;
    // The fourth is a pipe, as it was asked for.
    return { child, id: child.stdio[3] as Writable };
  } finally {
    closeSync(log);
  }
}

/** The lines of its stdout, one at a time. */
class LineReader implements Disposable {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  #wake: (() => void) | undefined;
  #isOver = false;

  constructor(child: ChildProcess) {
    this.#child = child;
    if (child.stdout === null) throw notStarted("it has no stdout");
    const lines = createInterface(child.stdout);
    lines.on("line", (line) => {
      this.#lines.push(line);
      this.#wake?.();
    });
    lines.on("close", () => this.#end());
    child.on("error", () => this.#end());
  }

  async next(): Promise<Line> {
    const { promise, resolve: wake, reject } = Promise.withResolvers<void>();
    this.#wake = wake;
    const limit = setTimeout(() => reject(notStarted("it did not answer in time")), START_LIMIT_MS);
    try {
      if (this.#lines.length === 0 && !this.#isOver) await promise;
    } finally {
      clearTimeout(limit);
    }
    const text = this.#lines.shift();
    if (text === undefined) throw notStarted("it ended");
    // Our own program's words.
    const line = JSON.parse(text) as Line;
    if ("error" in line) throw fromFaultBody(line.error);
    return line;
  }

  #end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  [Symbol.dispose](): void {
    this.#child.stdout?.destroy();
  }
}

function notStarted(why: string): Fault {
  return new Fault("internal", `--listen: what should listen could not be started: ${why}`);
}
