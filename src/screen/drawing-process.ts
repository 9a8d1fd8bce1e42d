import { type ChildProcess, fork } from "node:child_process";
import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { Fault, findScarcity, fromFaultBody } from "#contract/fault.ts";
import { BoundedMap } from "#contract/values/bounded-map.ts";
import type { FromWorker, ScreenAnswer, ScreenRequest, ToWorker } from "./requests.ts";

/** Requests under way; a further one is refused. */
const REQUESTS = 256;
/** The process's heap; cells are outside of it and are bounded by the cache. */
const HEAP_MIB = 512;
/** Without a sign of life while it draws; it gives one every second. */
const STUCK_MS = 30_000;
/** Sessions that are not drawn again because drawing them ended the process. */
const REFUSED_SESSIONS = 1000;

export interface WorkerLimits {
  readonly heapMib?: number;
  readonly stuckMs?: number;
}

interface Waiting {
  readonly request: ScreenRequest;
  readonly resolve: (answer: ScreenAnswer) => void;
  readonly reject: (error: unknown) => void;
  /** The process has it. */
  isSent: boolean;
  /** The process died while it had it. */
  isSuspect: boolean;
}

/**
 * The process that draws: started for the first request, and again when it died. It is a process and not a thread
 * because V8 ends the whole process when a thread reaches its heap limit at the wrong moment.
 *
 *   died with requests under way → each of them once more, one at a time → died again: that one is to blame
 *
 * Other requests wait meanwhile. The session that is to blame is not drawn again.
 */
export class DrawingProcess implements AsyncDisposable {
  readonly #file: string;
  readonly #heapMib: number;
  readonly #stuckMs: number;
  readonly #waiting = new Map<number, Waiting>();
  readonly #refused = new BoundedMap<string, true>(REFUSED_SESSIONS);
  #child: ChildProcess | undefined;
  #watchdog: NodeJS.Timeout | undefined;
  /** The suspect that is drawn with no other beside it. */
  #alone: number | undefined;
  #serial = 0;
  #isDisposed = false;

  constructor(url: URL, { heapMib = HEAP_MIB, stuckMs = STUCK_MS }: WorkerLimits = {}) {
    this.#file = fileURLToPath(url);
    this.#heapMib = heapMib;
    this.#stuckMs = stuckMs;
  }

  /** For tests, which end it in the middle of its work, and for what measures it. */
  get child(): ChildProcess | undefined {
    return this.#child;
  }

  ask(request: ScreenRequest): Promise<ScreenAnswer> {
    if (this.#isDisposed) return Promise.reject(shuttingDown());
    if (this.#refused.has(request.session_id)) return Promise.reject(notDrawn(request));
    if (this.#waiting.size >= REQUESTS) return Promise.reject(tooMany());
    const { promise, resolve, reject } = Promise.withResolvers<ScreenAnswer>();
    this.#serial += 1;
    const waiting = { request, resolve, reject, isSent: false, isSuspect: false };
    this.#waiting.set(this.#serial, waiting);
    this.#pump();
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    for (const { reject } of this.#waiting.values()) reject(shuttingDown());
    this.#waiting.clear();
    clearTimeout(this.#watchdog);
    const child = this.#child;
    if (child === undefined) return;
    const ended = Promise.withResolvers<void>();
    child.once("exit", () => ended.resolve());
    child.ref();
    child.kill("SIGKILL");
    await ended.promise;
  }

  /** Sends what may be sent: one suspect alone, or everything. */
  #pump(): void {
    if (this.#alone !== undefined) return;
    const suspect = this.#waiting.entries().find(([, { isSuspect }]) => isSuspect);
    if (suspect !== undefined) {
      [this.#alone] = suspect;
      this.#send(...suspect);
      return;
    }
    for (const [id, waiting] of this.#waiting) if (!waiting.isSent) this.#send(id, waiting);
  }

  #send(id: number, waiting: Waiting): void {
    waiting.isSent = true;
    waiting.isSuspect = false;
    this.#child ??= this.#start();
    // Without descriptors there is neither a process nor a channel to it; the error event that follows answers.
    if (this.#child.pid === undefined) return;
    const message: ToWorker = { id, request: waiting.request };
    this.#child.ref();
    this.#child.channel?.ref();
    this.#watch(this.#child);
    // The end of the process answers a request that cannot be sent any more.
    this.#child.send(message, () => undefined);
  }

  #start(): ChildProcess {
    const child = fork(this.#file, [], {
      // What our own process was started with is not for it: an inspector's port can be had only once.
      execArgv: [`--max-old-space-size=${this.#heapMib}`],
      env: compileCache(),
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    let hasStarted = false;
    child.on("message", (message: FromWorker) => {
      hasStarted = true;
      this.#onMessage(child, message);
    });
    // Without a process there is no exit.
    child.on("error", (error) => {
      if (child.pid === undefined) this.#onUnstarted(child, error);
    });
    child.on("exit", (code, signal) => {
      const how = signal ?? `exit code ${code}`;
      if (hasStarted) this.#onExit(child, how);
      else this.#onUnstarted(child, new Error(`the process that draws screens: ${how}`));
    });
    return child;
  }

  #watch(child: ChildProcess): void {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => child.kill("SIGKILL"), this.#stuckMs);
    this.#watchdog.unref();
  }

  #onMessage(child: ChildProcess, message: FromWorker): void {
    if (this.#isDisposed) return;
    this.#watch(child);
    if ("beat" in message) return;
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (this.#alone === message.id) this.#alone = undefined;
    if ("answer" in message) waiting?.resolve(message.answer);
    else waiting?.reject(fromFaultBody(message.fault));
    this.#pump();
    if (this.#waiting.size > 0) return;
    // With nothing to draw it keeps no process alive, and is not stuck.
    clearTimeout(this.#watchdog);
    child.unref();
    child.channel?.unref();
  }

  /** No request is to blame for a process that never began. */
  #onUnstarted(child: ChildProcess, error: Error): void {
    if (this.#child === child) this.#child = undefined;
    this.#alone = undefined;
    clearTimeout(this.#watchdog);
    if (this.#isDisposed) return;
    const sentence = "the screen could not be drawn: no process could be started for it";
    for (const { reject } of this.#waiting.values())
      reject(findScarcity(error) ?? new Fault("internal", sentence, { cause: error }));
    this.#waiting.clear();
  }

  #onExit(child: ChildProcess, how: string): void {
    if (this.#child === child) this.#child = undefined;
    clearTimeout(this.#watchdog);
    if (this.#isDisposed) return;
    const guilty = this.#alone === undefined ? undefined : this.#waiting.get(this.#alone);
    this.#alone = undefined;
    if (guilty !== undefined) this.#refuse(guilty.request.session_id, how);
    for (const waiting of this.#waiting.values()) {
      waiting.isSuspect ||= waiting.isSent;
      waiting.isSent = false;
    }
    this.#pump();
  }

  #refuse(sessionId: string, how: string): void {
    this.#refused.set(sessionId, true);
    for (const [id, { request, reject }] of this.#waiting) {
      if (request.session_id !== sessionId) continue;
      this.#waiting.delete(id);
      reject(notDrawn(request, how));
    }
  }
}

/** The process's only variable names our folder of compiled code: with it, it starts in a third of the time. */
function compileCache(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir();
  // Node adds a folder for its version by itself.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

function notDrawn({ session_id }: ScreenRequest, how?: string): Fault {
  const message =
    "the screen of this session cannot be drawn: drawing its output ended the process that draws screens, twice. Read its output instead.";
  return new Fault("unsupported", message, { details: { session_id, ended: how } });
}

function tooMany(): Fault {
  return new Fault("too_many", `${REQUESTS} screens are being drawn already; ask again soon`);
}

function shuttingDown(): Fault {
  return new Fault("shutting_down", "the server is going down, so no screen is drawn any more");
}
