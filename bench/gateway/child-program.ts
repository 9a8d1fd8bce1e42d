import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { owned } from "#bench/lib/owned.ts";

/** A program of ours that says each thing in one line of JSON: that it is ready, then an answer to each line. */
export interface ChildProgram extends AsyncDisposable {
  readonly pid: number;
  /** What it said when it was ready. */
  readonly ready: Readonly<Record<string, unknown>>;
  ask(line: string): Promise<Readonly<Record<string, number>>>;
  kill(signal: NodeJS.Signals): Promise<void>;
}

export async function openChildProgram(argv: readonly string[]): Promise<ChildProgram> {
  const child = spawn(process.execPath, argv, { stdio: ["pipe", "pipe", "inherit"] });
  const resource = owned(() => end(child, "SIGTERM"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`${argv.join(" ")} has ended`);
    return JSON.parse(value);
  };
  const ready = await next();
  return {
    pid: child.pid ?? 0,
    ready,
    ask: (line) => {
      child.stdin.write(`${line}\n`);
      return next();
    },
    kill: (signal) => end(child, signal),
    ...resource,
  };
}

const PATIENCE_MS = 10_000;

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
  child.kill(signal);
  await exited;
  clearTimeout(timer);
}
