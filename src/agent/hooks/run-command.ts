import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { addAbortListener } from "node:events";
import type { Readable } from "node:stream";
import { signalGroup } from "#agent/signal-group.ts";
import type { Clock } from "#base/clock.ts";
import { findSpawnRefusal } from "#base/spawn-refusal.ts";

export interface CommandRun {
  /** Null when a signal ended it. */
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timed_out: boolean;
  /** It printed more than was kept. */
  readonly truncated: boolean;
}

export interface CommandOptions {
  readonly stdin: string;
  /** Instead of `/bin/sh`; takes a line with `-c`. */
  readonly shell?: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeout_ms: number;
  /** Of stdout and of stderr each, in bytes. */
  readonly output_limit: number;
  readonly signal: AbortSignal;
}

/** Runs a line in a shell. When it is over, so is all that it started. Rejects when aborted or not started at all. */
export type RunCommand = (line: string, options: CommandOptions) => Promise<CommandRun>;

/** From asking it to end to killing it. */
const GRACE_MS = 1000;
/** Who left the group may hold the output open for ever. */
const DRAIN_MS = 500;

/** The real one: a shell in a process group of its own, which is ended as a group. */
export function createRunCommand({ clock }: { readonly clock: Clock }): RunCommand {
  return async (line, options) => {
    options.signal.throwIfAborted();
    const child = spawn(options.shell ?? "/bin/sh", ["-c", line], {
      cwd: options.cwd,
      env: { ...options.env },
      detached: true,
      stdio: "pipe",
    });
    const refusal = findSpawnRefusal(child);
    if (refusal !== undefined) throw await refusal;
    const run = await followChild(child, options, clock);
    options.signal.throwIfAborted();
    return run;
  };
}

async function followChild(
  child: ChildProcessWithoutNullStreams,
  options: CommandOptions,
  clock: Clock,
): Promise<CommandRun> {
  const stdout = keepHead(child.stdout, options.output_limit);
  const stderr = keepHead(child.stderr, options.output_limit);
  // It need not read what it is given.
  child.stdin.on("error", () => child.stdin.destroy());
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  child.once("close", () => close());

  const ending = await endInTime(child, options, clock);
  // What it left in the background goes with it.
  signalGroup(child, "SIGKILL");
  {
    using _drained = clock.timer(DRAIN_MS, close);
    await closed;
  }
  child.stdin.destroy();
  child.stdout.destroy();
  child.stderr.destroy();
  return {
    ...ending,
    stdout: stdout.text(),
    stderr: stderr.text(),
    truncated: stdout.isCut() || stderr.isCut(),
  };
}

type Ending = Pick<CommandRun, "exit_code" | "signal" | "timed_out">;

async function endInTime(
  child: ChildProcessWithoutNullStreams,
  { stdin, signal, timeout_ms }: CommandOptions,
  clock: Clock,
): Promise<Ending> {
  let timed_out = false;
  // Before the first wait: its time runs from here.
  using stack = new DisposableStack();
  const end = () => {
    signalGroup(child, "SIGTERM");
    stack.use(clock.timer(GRACE_MS, () => signalGroup(child, "SIGKILL")));
  };
  stack.use(addAbortListener(signal, end));
  stack.use(
    clock.timer(timeout_ms, () => {
      timed_out = true;
      end();
    }),
  );
  await started(child);
  child.stdin.end(stdin);
  const ending = await exited(child);
  return { ...ending, timed_out };
}

function started(child: ChildProcessWithoutNullStreams): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.once("spawn", resolve);
  child.on("error", reject);
  return promise;
}

function exited(child: ChildProcessWithoutNullStreams): Promise<Omit<Ending, "timed_out">> {
  const { promise, resolve } = Promise.withResolvers<Omit<Ending, "timed_out">>();
  if (child.exitCode !== null || child.signalCode !== null) {
    resolve({ exit_code: child.exitCode, signal: child.signalCode });
  }
  child.once("exit", (exit_code, signal) => resolve({ exit_code, signal }));
  return promise;
}

/** Keeps the first bytes and reads on, so that a child that prints much does not wait for ever. */
function keepHead(stream: Readable, limit: number) {
  const chunks: Buffer[] = [];
  let kept = 0;
  let isCut = false;
  stream.on("data", (chunk: Buffer) => {
    const part = chunk.subarray(0, limit - kept);
    if (part.length < chunk.length) isCut = true;
    if (part.length === 0) return;
    kept += part.length;
    chunks.push(part);
  });
  return { text: () => Buffer.concat(chunks).toString("utf8"), isCut: () => isCut };
}
