import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { signalGroup } from "#agent/signal-group.ts";
import type { Clock } from "#base/clock.ts";
import { errnoOf } from "#base/errno.ts";
import { findSpawnRefusal } from "#base/spawn-refusal.ts";
import { asFault, Fault } from "#contract/fault.ts";
import { MessageLines } from "./message-lines.ts";

/**
 * A server that is our child, one JSON message a line on stdin and stdout.
 *
 *   stdin closed → GRACE_MS → TERM to the group → GRACE_MS → KILL to the group
 *   the child has ended, however → KILL to what it left in its group → what it printed is read → onclose
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #server: StdioServer;
  readonly #parse: StdioParts["parse"];
  readonly #clock: Clock;
  readonly #lines = new MessageLines(MESSAGE_BYTES);
  readonly #said = new TextTail(STDERR_BYTES);
  readonly #ended = Promise.withResolvers<void>();
  #child: ChildProcessWithoutNullStreams | undefined;
  #closing: Promise<void> | undefined;
  #exit: string | undefined;
  #isOver = false;

  constructor(server: StdioServer, { parse, clock }: StdioParts) {
    this.#server = server;
    this.#parse = parse;
    this.#clock = clock;
  }

  /** How it ended; undefined while it runs. */
  get exit(): string | undefined {
    return this.#exit;
  }

  /** The end of what it printed to stderr. */
  get said(): string {
    return this.#said.text();
  }

  async start(): Promise<void> {
    const { command, args, cwd, env } = this.#server;
    if (!existsSync(cwd)) throw new Fault("spawn_failed", `its work dir ${cwd} does not exist`);
    const child = spawn(command, [...args], { cwd, env, detached: true, stdio: "pipe" });
    const refusal = findSpawnRefusal(child);
    if (refusal !== undefined) throw asFault(await refusal);
    this.#child = child;
    const { promise: started, resolve, reject } = Promise.withResolvers<void>();
    child.once("spawn", resolve);
    child.once("error", (error) => reject(describeSpawnError(error)));
    // It may stop reading at any time; that it has ended is told by its exit.
    child.stdin.on("error", (error) => this.onerror?.(error));
    child.stdout.on("error", (error) => this.onerror?.(error));
    child.stderr.on("error", (error) => this.onerror?.(error));
    child.stdout.on("data", (chunk: Buffer) => this.#receive(chunk));
    child.stderr.on("data", (chunk: Buffer) => this.#said.push(chunk));
    // Without it nothing can be answered any more.
    child.stdout.once("end", () => void this.close());
    child.once("exit", (code, signal) => {
      this.#exit = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
      this.#afterExit(child);
    });
    try {
      await started;
    } catch (error) {
      this.#child = undefined;
      this.#finish();
      throw error;
    }
  }

  send(message: JSONRPCMessage): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stdin = this.#child?.stdin;
    if (stdin === undefined || !stdin.writable) reject(new Error("the server does not listen"));
    else if (stdin.writableLength > MESSAGE_BYTES) reject(new Error("the server reads nothing"));
    else
      stdin.write(`${JSON.stringify(message)}\n`, (error) =>
        error === null || error === undefined ? resolve() : reject(error),
      );
    return promise;
  }

  /** Comes back when nobody is left. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return this.#finish();
    child.stdin.end();
    if (await this.#endsWithin(GRACE_MS)) return;
    signalGroup(child, "SIGTERM");
    if (await this.#endsWithin(GRACE_MS)) return;
    signalGroup(child, "SIGKILL");
    // The kernel may take its time; nobody waits for it for ever.
    if (!(await this.#endsWithin(KILL_MS))) this.#finish();
  }

  async #endsWithin(ms: number): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<boolean>();
    using _timer = this.#clock.timer(ms, () => resolve(false));
    return await Promise.race([this.#ended.promise.then(() => true), late]);
  }

  #receive(chunk: Buffer): void {
    if (this.#closing !== undefined) return;
    const lines = this.#lines.push(chunk);
    for (const line of lines ?? []) this.#receiveLine(line);
    if (lines !== undefined) return;
    this.#said.push(Buffer.from(`\n[it printed a message of more than ${MESSAGE_BYTES} bytes]`));
    void this.close();
  }

  /** What is no message is passed over: some servers print to stdout what belongs to stderr. */
  #receiveLine(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = this.#parse(line);
    } catch {
      return;
    }
    this.onmessage?.(message);
  }

  #afterExit(child: ChildProcessWithoutNullStreams): void {
    signalGroup(child, "SIGKILL");
    // Who has left the group may hold the output open for ever.
    const timer = this.#clock.timer(DRAIN_MS, () => this.#finish());
    child.once("close", () => {
      timer[Symbol.dispose]();
      this.#finish();
    });
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#child?.stdin.destroy();
    this.#child?.stdout.destroy();
    this.#child?.stderr.destroy();
    this.#lines.clear();
    this.#ended.resolve();
    this.onclose?.();
  }
}

interface StdioServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Record<string, string>;
}

interface StdioParts {
  /** Throws on what is no message. */
  readonly parse: (line: string) => JSONRPCMessage;
  readonly clock: Clock;
}

/** The longest message that is read. */
const MESSAGE_BYTES = 8 * 1024 * 1024;
export const GRACE_MS = 500;
const KILL_MS = 2000;
const DRAIN_MS = 500;
const STDERR_BYTES = 2048;

/** The last bytes of a stream. */
class TextTail {
  readonly #limit: number;
  #kept = Buffer.alloc(0);

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    this.#kept = Buffer.concat([this.#kept, chunk.subarray(-this.#limit)]).subarray(-this.#limit);
  }

  text(): string {
    return this.#kept.toString("utf8").trim();
  }
}

const spawnErrors: Readonly<Record<string, string>> = {
  ENOENT: "there is no such program",
  EACCES: "it may not be run",
};

function describeSpawnError(error: Error): Fault {
  const why = spawnErrors[errnoOf(error) ?? ""] ?? error.message;
  return new Fault("spawn_failed", why, { cause: error });
}
