import { type ChildProcess, spawn } from "node:child_process";

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** For a test that does something to the program while it runs. */
  readonly onStderr?: (child: ChildProcess) => void;
}

export interface RunResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, with nothing on its stdin. */
export function runProgram(argv: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const { promise, resolve, reject } = Promise.withResolvers<RunResult>();
  const [program = "", ...args] = argv;
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: options.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stdout: string[] = [];
  const stderr: string[] = [];
  child.stdout.setEncoding("utf8").on("data", (text: string) => stdout.push(text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr.push(text);
    options.onStderr?.(child);
  });
  child.on("error", reject);
  child.on("close", (code, signal) =>
    resolve({ code, signal, stdout: stdout.join(""), stderr: stderr.join("") }),
  );
  return promise;
}
