import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Door, openDoor } from "./gateway.ts";
import { openTestHost, type TestHost } from "./host.ts";
import { binPath } from "./packaged.ts";

export interface ServedGateway extends AsyncDisposable, Door {
  readonly host: TestHost;
  readonly token: string;
  readonly pid: number;
  /** How it ended; undefined while it runs. */
  readonly ended: () => number | NodeJS.Signals | undefined;
  stop(signal: NodeJS.Signals): Promise<void>;
}

/** `reins serve` in a process of its own over a real host, for what would be hard to see from inside. */
export async function openServedGateway(through: readonly string[] = []): Promise<ServedGateway> {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await openTestHost());
  const serve = ["serve", "--listen", "127.0.0.1:0", "--json", "--data-dir", host.dataDir];
  const [program = "", ...args] = [...through, process.execPath, binPath, ...serve];
  const child: ChildProcess = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const stop = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exited;
  };
  stack.defer(() => stop("SIGTERM"));
  if (child.stdout === null) throw new Error("it has no output");
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), "line"),
    exited.then(() => ["the gateway ended"]),
  ])) as [string];
  const { listening, pid }: { readonly listening: string; readonly pid: number } = JSON.parse(line);
  const token = readFileSync(join(host.dataDir, "token"), "utf8").trim();
  const owned = stack.move();
  return {
    ...openDoor(listening, token),
    host,
    token,
    pid,
    ended: () => child.exitCode ?? child.signalCode ?? undefined,
    stop,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
