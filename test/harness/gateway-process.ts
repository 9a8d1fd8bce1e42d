import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Door, openDoor } from "./gateway.ts";
import { binPath } from "./packaged.ts";

export interface GatewayProcess extends AsyncDisposable {
  readonly door: Door;
  readonly pid: number;
  readonly port: number;
  /** Ends it; the same data directory and port can be served again. */
  kill(signal: NodeJS.Signals): Promise<void>;
}

export interface GatewaySetting {
  readonly dataDir: string;
  /** 0 picks one. */
  readonly port?: number;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A real `reins serve` process, over whatever host the data directory has. */
export async function openGatewayProcess(setting: GatewaySetting): Promise<GatewayProcess> {
  const { dataDir, port = 0, args = [], env = {} } = setting;
  const listen = ["--listen", `127.0.0.1:${port}`];
  const child = spawn(
    process.execPath,
    [binPath, "serve", "--json", "--data-dir", dataDir, ...listen, ...args],
    { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, HOME: dataDir, ...env } },
  );
  const exited = once(child, "exit");
  const line = await firstLine(child, exited);
  const { listening, pid }: { listening: string; pid: number } = JSON.parse(line);
  const token = readFileSync(join(dataDir, "token"), "utf8").trim();
  const kill = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exited;
  };
  return {
    door: openDoor(listening, token),
    pid,
    port: Number(new URL(listening).port),
    kill,
    [Symbol.asyncDispose]: () => kill("SIGKILL"),
  };
}

async function firstLine(child: ChildProcess, exited: Promise<unknown[]>): Promise<string> {
  if (child.stdout === null) throw new Error("the gateway has no stdout");
  const line = once(createInterface(child.stdout), "line");
  const [text] = await Promise.race([line, exited.then(([code]) => [`exit ${String(code)}`])]);
  if (!String(text).startsWith("{")) throw new Error(`the gateway did not start: ${String(text)}`);
  return String(text);
}
