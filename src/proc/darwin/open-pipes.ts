import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import type { Clock } from "#base/clock.ts";
import { errnoOf } from "#base/errno.ts";
import type { ChildSpec, ExitStatus } from "#proc/child.ts";
import { spawnFault } from "#proc/executable.ts";
import { InputQueue } from "#proc/input-queue.ts";
import type { Wiring, WiringEvents } from "#proc/process-child.ts";
import { withUmask } from "#proc/umask.ts";
import type { StartedProcess } from "./open-terminal.ts";

/** After so many turns of the event loop, whatever was in the pipes at the exit has been read. */
const TURNS_AFTER_EXIT = 3;

/** Node makes a pipe for each descriptor; a shell makes them one before it becomes the program, which bears its path. */
const MERGE = ["sh", "-c", 'exec "$@" 2>&1', "sh"];

/** Pipes by Node's own child processes, each the leader of a session of its own. */
export async function startPipes(
  { clock }: { readonly clock: Clock },
  spec: ChildSpec,
  program: string,
): Promise<StartedProcess> {
  const child = start(spec, program);
  const started = Promise.withResolvers<void>();
  child.once("spawn", started.resolve);
  // Also later, when a signal could not be sent: that is told where it was asked.
  child.on("error", started.reject);
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("a child without pipes");
  const outputs = { stdout, stderr };
  const wiring = createWiring(child, clock, outputs);
  const onExit = (listener: (status: ExitStatus) => void) =>
    void child.once("exit", (code, signal) =>
      // Node itself lifts a pause at the exit.
      afterTurns(TURNS_AFTER_EXIT, () => listener(describeExit(code, signal))),
    );
  try {
    await started.promise;
  } catch (error) {
    wiring[Symbol.dispose]();
    throw spawnFault(spec.argv[0] ?? "", errnoOf(error) ?? "EIO", error);
  }
  return { pid: child.pid ?? 0, wiring, onExit };
}

function start(spec: ChildSpec, program: string): ChildProcess {
  const [argv0 = "", ...args] = spec.merged
    ? [...MERGE, program, ...spec.argv.slice(1)]
    : spec.argv;
  try {
    return withUmask(spec.umask, () =>
      spawn(spec.merged ? "/bin/sh" : program, args, {
        argv0,
        cwd: spec.work_dir,
        env: { ...spec.env, PWD: spec.work_dir },
        detached: true,
        stdio: [spec.stdin ? "pipe" : "ignore", "pipe", "pipe"],
      }),
    );
  } catch (error) {
    throw spawnFault(spec.argv[0] ?? "", errnoOf(error) ?? "EIO", error);
  }
}

function createWiring(
  child: ChildProcess,
  clock: Clock,
  outputs: { readonly stdout: Readable; readonly stderr: Readable },
): Wiring {
  const { stdin } = child;
  const both = [outputs.stdout, outputs.stderr];
  // A program that closes its stdin is no failure.
  stdin?.on("error", () => undefined);
  const input = new InputQueue({
    clock,
    write(bytes) {
      if (stdin === null || stdin.destroyed) return "gone";
      if (stdin.writableNeedDrain) return "full";
      stdin.write(Buffer.from(bytes));
      return bytes.length;
    },
    end: () => stdin?.end(),
  });
  return {
    input,
    start: (events) => read(outputs, events),
    pause() {
      for (const output of both) output.pause();
    },
    resume() {
      for (const output of both) output.resume();
    },
    // Done by the turns before the exit is told.
    drain: () => undefined,
    isEnded: () => both.every((output) => output.closed),
    endInput: () => input.end(),
    resize: () => undefined,
    foregroundGroup: () => undefined,
    exited: () => stdin?.destroy(),
    [Symbol.dispose]() {
      input[Symbol.dispose]();
      for (const stream of [stdin, ...both]) stream?.destroy();
    },
  };
}

function read(
  outputs: { readonly stdout: Readable; readonly stderr: Readable },
  { onBytes, onEnd }: WiringEvents,
): void {
  for (const channel of ["stdout", "stderr"] as const) {
    outputs[channel].on("data", (bytes: Buffer) => onBytes(channel, bytes));
    outputs[channel].on("close", onEnd);
  }
}

function afterTurns(count: number, run: () => void): void {
  if (count === 0) run();
  else setImmediate(() => afterTurns(count - 1, run));
}

function describeExit(code: number | null, signal: NodeJS.Signals | null): ExitStatus {
  if (signal === null) return { exit_code: code ?? 0, signal };
  return { exit_code: 128 + constants.signals[signal], signal };
}
