import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { RunResult } from "./run-program.ts";

const programPath = fileURLToPath(new URL("./resident-program.ts", import.meta.url));

/**
 * A process that runs commands of the installed program, several at a time, where starting `bin/reins` for each would cost
 * most of the test. A command sees what a process of its own would see of stdio, the environment and the working
 * directory. It cannot get signals, and it does not show whether its process would end: those claims use `Reins.start`.
 */
export interface Resident extends AsyncDisposable {
  readonly pid: number;
  run(argv: readonly string[], env?: NodeJS.ProcessEnv): Promise<RunResult>;
}

export interface ResidentRequest {
  readonly id: number;
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export interface ResidentAnswer extends RunResult {
  readonly id: number;
}

export function openResident(env: NodeJS.ProcessEnv, cwd: string): Resident {
  const child = spawn(process.execPath, [programPath], {
    env,
    cwd,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const waiting = new Map<number, PromiseWithResolvers<RunResult>>();
  const ready = Promise.withResolvers<void>();
  // A command may be the first to hear of the end.
  ready.promise.catch(() => undefined);
  child.on("message", (message: "ready" | ResidentAnswer) => {
    if (message === "ready") return ready.resolve();
    const { id, ...result } = message;
    waiting.get(id)?.resolve(result);
    waiting.delete(id);
  });
  const exited = once(child, "exit");
  void exited.then(([code, signal]) => {
    const error = new Error(`the resident cli ended: ${code ?? signal}`);
    for (const { reject } of [ready, ...waiting.values()]) reject(error);
    waiting.clear();
  });
  let last = 0;
  return {
    pid: child.pid ?? 0,
    run: async (argv, own = env) => {
      await ready.promise;
      last += 1;
      const answered = Promise.withResolvers<RunResult>();
      waiting.set(last, answered);
      const request: ResidentRequest = { id: last, argv, env: own };
      child.send(request);
      return await answered.promise;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
