import { Worker } from "node:worker_threads";
import { Fault, findScarcity, fromFaultBody } from "#contract/fault.ts";
import type { FromWorker, ScreenAnswer, ScreenRequest, ToWorker } from "./requests.ts";

/** Requests under way; who comes then is told to come later. */
const REQUESTS = 256;
/** A request is not to blame for the first death, and maybe not for the second; then it is given up. */
const ATTEMPTS = 2;
/** Of the worker's own heap; cells lie outside of it and are bounded by the cache. */
const HEAP_MIB = 512;

interface Waiting {
  readonly request: ScreenRequest;
  readonly resolve: (answer: ScreenAnswer) => void;
  readonly reject: (error: unknown) => void;
  attempts: number;
}

/** The thread that draws: started for the first request, and again when it died. */
export class WorkerLink implements AsyncDisposable {
  readonly #url: URL;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #serial = 0;
  #isDisposed = false;

  constructor(url: URL) {
    this.#url = url;
  }

  /** For tests, which end it in the middle of its work. */
  get worker(): Worker | undefined {
    return this.#worker;
  }

  ask(request: ScreenRequest): Promise<ScreenAnswer> {
    if (this.#isDisposed) return Promise.reject(shuttingDown());
    if (this.#waiting.size >= REQUESTS) return Promise.reject(tooMany());
    const { promise, resolve, reject } = Promise.withResolvers<ScreenAnswer>();
    this.#serial += 1;
    this.#waiting.set(this.#serial, { request, resolve, reject, attempts: 0 });
    this.#send(this.#serial);
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    for (const { reject } of this.#waiting.values()) reject(shuttingDown());
    this.#waiting.clear();
    await this.#worker?.terminate();
  }

  #send(id: number): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    waiting.attempts += 1;
    try {
      this.#worker ??= this.#start();
    } catch (error) {
      // The system has no thread left: who asked is told, and holds no place.
      this.#giveUp(id, waiting, error);
      return;
    }
    const message: ToWorker = { id, request: waiting.request };
    this.#worker.ref();
    this.#worker.postMessage(message);
  }

  #start(): Worker {
    const worker = new Worker(this.#url, {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
      // What our own process was started with is not for it: an inspector's port can be had only once.
      execArgv: [],
    });
    worker.on("message", (message: FromWorker) => this.#onAnswer(message));
    let cause: unknown;
    // Its end follows at once, and is what counts.
    worker.on("error", (error) => {
      cause = error;
    });
    worker.on("exit", () => this.#onExit(worker, cause));
    return worker;
  }

  #onAnswer(message: FromWorker): void {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    // With nothing to draw it keeps nobody alive.
    if (this.#waiting.size === 0) this.#worker?.unref();
    if ("answer" in message) waiting?.resolve(message.answer);
    else waiting?.reject(fromFaultBody(message.fault));
  }

  #onExit(worker: Worker, cause: unknown): void {
    if (this.#worker === worker) this.#worker = undefined;
    if (this.#isDisposed) return;
    for (const [id, waiting] of this.#waiting) {
      if (waiting.attempts < ATTEMPTS) {
        this.#send(id);
        continue;
      }
      this.#giveUp(id, waiting, cause);
    }
  }

  #giveUp(id: number, { reject }: Waiting, cause: unknown): void {
    this.#waiting.delete(id);
    const sentence = "the screen could not be drawn: what draws it ended";
    reject(findScarcity(cause) ?? new Fault("internal", sentence, { cause }));
  }
}

function tooMany(): Fault {
  return new Fault("too_many", `${REQUESTS} screens are being drawn already; ask again soon`);
}

function shuttingDown(): Fault {
  return new Fault("shutting_down", "the server is going down, so no screen is drawn any more");
}
