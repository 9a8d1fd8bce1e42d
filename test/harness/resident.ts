import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { RunResult } from "./run-program.ts";

const programPath = fileURLToPath(new URL("./resident-program.ts", import.meta.url));

/**
 * A process that runs one command of the cli after the other, where starting `bin/reins` for each would cost most of the
 * test. For what leads up to a claim, and for long tables; that a command's own process ends as it should is for
 * `Reins.run`.
 */
export interface Resident extends AsyncDisposable {
  /** One at a time: a command that waits holds up those behind it. */
  run(args: readonly string[]): Promise<RunResult>;
}

export function openResident(env: NodeJS.ProcessEnv, cwd: string): Resident {
  const child = spawn(process.execPath, [programPath], {
    env,
    cwd,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const exited = once(child, "exit");
  const gone = exited.then(([code, signal]) => {
    throw new Error(`the resident cli ended: ${code ?? signal}`);
  });
  // Said to whoever waits for an answer.
  gone.catch(() => undefined);
  const ask = async (args: readonly string[]): Promise<RunResult> => {
    const answered = once(child, "message");
    child.send(args);
    const [result] = await Promise.race([answered, gone]);
    return result;
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    run: (args) => {
      const result = last.then(() => ask(args));
      last = result.catch(() => undefined);
      return result;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
