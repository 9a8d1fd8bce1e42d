import { Worker } from "node:worker_threads";
import { locateWorkerFile } from "#base/worker-file.ts";
import { Fault, findScarcity } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { PatternQuestion, PatternReply } from "./pattern-worker.ts";

type Asked = Omit<PatternQuestion, "id">;

export interface Ask {
  readonly reply: Promise<PatternReply>;
  /** Rejects the reply, wherever the search is. */
  abandon(reason: unknown): void;
}

interface Job extends PromiseWithResolvers<PatternReply> {
  readonly asked: Asked;
  readonly isSlow: boolean;
  deaths: number;
}

/** Each wait has at most one search under way. */
const QUEUE_SEARCHES = limits.waits;
/** A search stops itself long before; this is for a thread that does not even do that, or does not start. */
const STUCK_MS = 20_000;
/** Of its own searches, after which a pattern is held to be what kills the thread. */
const DEATHS = 2;
const HEAP_MB = 256;

/**
 * The thread and who waits for it. There are two queues that take turns, one for patterns that were slow before: so
 * somebody with a decent pattern waits for at most one slow search a turn, however many there are.
 */
export class PatternThread implements Disposable {
  readonly #swift: Job[] = [];
  readonly #slow: Job[] = [];
  #isSlowTurn = false;
  #running: { readonly id: number; readonly job: Job; readonly stuck: NodeJS.Timeout } | undefined;
  #worker: Worker | undefined;
  #lastId = 0;
  #isDisposed = false;
  readonly #file: URL;

  constructor(file = locateWorkerFile(import.meta.url, "pattern-worker")) {
    this.#file = file;
  }

  get waiting(): number {
    return this.#swift.length + this.#slow.length;
  }

  ask(asked: Asked, { isSlow }: { readonly isSlow: boolean }): Ask {
    if (this.#isDisposed) throw shuttingDown();
    if (this.waiting >= QUEUE_SEARCHES)
      throw new Fault("too_many", `${QUEUE_SEARCHES} searches wait already; try again later`);
    const job: Job = { ...Promise.withResolvers<PatternReply>(), asked, isSlow, deaths: 0 };
    this.#queueOf(job).push(job);
    this.#pump();
    return { reply: job.promise, abandon: (reason) => this.#abandon(job, reason) };
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    const jobs = [...this.#swift.splice(0), ...this.#slow.splice(0)];
    if (this.#running !== undefined) jobs.push(this.#takeRunning(this.#running));
    for (const job of jobs) job.reject(shuttingDown());
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }

  #queueOf(job: Job): Job[] {
    return job.isSlow ? this.#slow : this.#swift;
  }

  #abandon(job: Job, reason: unknown): void {
    const queue = this.#queueOf(job);
    const at = queue.indexOf(job);
    if (at >= 0) queue.splice(at, 1);
    // One that runs goes on until it ends or is stopped; nobody hears of it.
    job.reject(reason);
  }

  #pump(): void {
    if (this.#running !== undefined || this.#isDisposed) return;
    const [first, second] = this.#isSlowTurn
      ? [this.#slow, this.#swift]
      : [this.#swift, this.#slow];
    this.#isSlowTurn = !this.#isSlowTurn;
    const job = first.shift() ?? second.shift();
    if (job === undefined) return;
    let worker: Worker;
    try {
      worker = this.#open();
    } catch (error) {
      // The system has no thread left; the next one may find one.
      job.reject(deathFault(error));
      this.#pump();
      return;
    }
    this.#lastId += 1;
    const id = this.#lastId;
    const stuck = setTimeout(() => void worker.terminate(), STUCK_MS);
    stuck.unref();
    this.#running = { id, job, stuck };
    // A copy of its own, given away: the thread shares nothing with us.
    const bytes = new Uint8Array(job.asked.bytes);
    const question: PatternQuestion = { ...job.asked, bytes, id };
    worker.postMessage(question, [bytes.buffer]);
  }

  #open(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(this.#file, {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    this.#worker = worker;
    worker.on("message", (reply: PatternReply) => this.#onReply(reply));
    let cause: unknown;
    worker.on("error", (error) => {
      cause = error;
    });
    worker.on("exit", () => this.#onExit(worker, cause));
    // Last, because a listener would keep the process alive again.
    worker.unref();
    return worker;
  }

  #onReply(reply: PatternReply): void {
    if (this.#running?.id !== reply.id) return;
    this.#takeRunning(this.#running).resolve(reply);
    this.#pump();
  }

  #onExit(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    if (this.#running !== undefined) this.#onDeath(this.#takeRunning(this.#running), cause);
    this.#pump();
  }

  /** Once may be somebody else's doing; twice is the pattern's. */
  #onDeath(job: Job, cause: unknown): void {
    job.deaths += 1;
    if (job.deaths < DEATHS) this.#queueOf(job).unshift(job);
    else job.reject(deathFault(cause));
  }

  #takeRunning({ job, stuck }: { readonly job: Job; readonly stuck: NodeJS.Timeout }): Job {
    clearTimeout(stuck);
    this.#running = undefined;
    return job;
  }
}

function shuttingDown(): Fault {
  return new Fault("shutting_down", "the server is shutting down");
}

function deathFault(cause: unknown): Fault {
  const isMemory =
    cause instanceof Error && "code" in cause && cause.code === "ERR_WORKER_OUT_OF_MEMORY";
  const early = "the search for a pattern ended early";
  if (!isMemory) return findScarcity(cause) ?? new Fault("internal", early, { cause });
  const message = "pattern: it needs more memory than a search may have";
  return new Fault("invalid_request", message, { details: { field: "pattern" }, cause });
}
