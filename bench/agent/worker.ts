import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { type MemoryFacts, readMemory } from "#bench/lib/process-facts.ts";

export interface WorkerStart {
  /** From the spawn to the answer to its first line. */
  readonly ready_ms: number;
  readonly memory: MemoryFacts;
}

export interface WorkerPlace {
  /** The `bin/reins` that it is started by. */
  readonly program: string;
  readonly dataDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly team: string;
}

/** One worker as the host starts it, without the host: a line in, its answer, and the end. */
export async function startWorker({
  program,
  dataDir,
  env,
  team,
}: WorkerPlace): Promise<WorkerStart> {
  const session = `ses_${randomBytes(8).toString("hex")}`;
  const started = performance.now();
  const child = spawn(process.execPath, [program, "agent"], {
    env: { ...env, REINS_HOME: dataDir, REINS_SESSION_ID: session },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const spec = { yaml: team, name: "bench.yaml", base_dir: "/", work_dir: "/", agent: "root" };
  child.stdin.write(`${JSON.stringify({ id: "1", type: "init", keys: {}, spec })}\n`);
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const said: unknown = JSON.parse(line);
      if (!isReply(said)) continue;
      if (said.error !== undefined) throw new Error(line);
      return { ready_ms: performance.now() - started, memory: readMemory(child.pid ?? 0) };
    }
  } finally {
    // By its own end, so that what it compiled is kept.
    child.kill("SIGTERM");
    await exited;
  }
  throw new Error(`the worker ended with ${child.exitCode ?? child.signalCode}`);
}

function isReply(said: unknown): said is { readonly error?: unknown } {
  return typeof said === "object" && said !== null && "type" in said && said.type === "reply";
}
