import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { owned } from "#bench/lib/owned.ts";
import { findTarget, type Mortal, type Target } from "./processes.ts";

/** `reins serve` on a port of its own; when it ends, whatever ended it, the next one is started there. */
export interface ManagedGateway extends AsyncDisposable, Mortal {
  readonly port: number;
  readonly lives: number;
  /** The next life waits for this. */
  hold(ms: number): void;
  /** There is a life that listens. */
  ready(): Promise<void>;
}

/** On a machine that has ten things to do at once; nothing waits longer than it has to. */
const START_MS = 180_000;
const AGAIN_MS = 200;
const POLL_MS = 50;
const STOP_MS = 60_000;

export interface GatewayPlace {
  readonly dir: string;
  readonly dataDir: string;
  /** The program. */
  readonly reins: string;
  journal(line: string): void;
}

export async function openManagedGateway(
  place: GatewayPlace,
  publicUrl: string | undefined,
): Promise<ManagedGateway> {
  const gateway = new Gateway(place, publicUrl);
  const resource = owned(() => gateway.stop());
  await gateway.ready();
  return Object.assign(gateway, resource);
}

class Gateway {
  readonly #place: GatewayPlace;
  readonly #publicUrl: string | undefined;
  #child: ChildProcess | undefined;
  #isListening = false;
  #isOver = false;
  #holdUntil = 0;
  readonly #done: Promise<void>;
  port = 0;
  lives = 0;

  constructor(place: GatewayPlace, publicUrl: string | undefined) {
    this.#place = place;
    this.#publicUrl = publicUrl;
    this.#done = this.#live();
  }

  target(): Target | undefined {
    const pid = this.#child?.pid;
    return pid === undefined ? undefined : findTarget(pid);
  }

  hold(ms: number): void {
    this.#holdUntil = performance.now() + ms;
  }

  async ready(): Promise<void> {
    const until = performance.now() + START_MS;
    while (!this.#isListening) {
      if (performance.now() > until) throw new Error(`no gateway listens on ${this.port}`);
      await sleep(POLL_MS);
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    this.#child?.kill("SIGTERM");
    this.#child?.kill("SIGCONT");
    const late = setTimeout(() => this.#child?.kill("SIGKILL"), STOP_MS);
    await this.#done;
    clearTimeout(late);
  }

  async #live(): Promise<void> {
    while (!this.#isOver) {
      await this.#liveOnce();
      const wait = Math.max(AGAIN_MS, this.#holdUntil - performance.now());
      if (!this.#isOver) await sleep(wait);
    }
  }

  async #liveOnce(): Promise<void> {
    const { dir, dataDir, reins } = this.#place;
    const log = openSync(join(dir, "gateway.err"), "a");
    const words = ["serve", "--json", "--data-dir", dataDir, "--listen", `127.0.0.1:${this.port}`];
    if (this.#publicUrl !== undefined) words.push("--public-url", this.#publicUrl);
    const env = { ...process.env, HOME: join(dir, "work"), REINS_HOME: dataDir };
    const child = spawn(process.execPath, [reins, ...words], {
      stdio: ["ignore", "pipe", log],
      env,
    });
    closeSync(log);
    this.#child = child;
    if (child.stdout === null) throw new Error("the gateway has no stdout");
    const lines = createInterface(child.stdout);
    lines.once("line", (line) => this.#listens(line));
    const [code, signal] = await once(child, "exit");
    this.#isListening = false;
    lines.close();
    child.stdout.destroy();
    this.#child = undefined;
    this.#place.journal(`gateway ${this.port} ended: ${String(code ?? signal)}`);
  }

  #listens(line: string): void {
    // Our own program's first line, or what it says when it cannot start.
    if (!line.startsWith("{")) return;
    const { listening } = JSON.parse(line) as { readonly listening?: string };
    if (listening === undefined) return;
    this.port = Number(new URL(listening).port);
    this.lives += 1;
    this.#isListening = true;
  }
}
