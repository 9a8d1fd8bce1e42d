import { createClient } from "#client/client.ts";

export interface TakeoverOptions {
  readonly url: string;
  readonly token: string;
  /** The session prints its input. */
  readonly session_id: string;
  /** How often control has to be taken from one of the two. */
  readonly takeovers: number;
  /** Takeovers between two cuts of a connection. */
  readonly cutEvery: number;
  /** Keys that are sent at once, without waiting for the control that they need. */
  readonly burst?: number;
}

export interface TakeoverFacts {
  readonly takeovers: number;
  readonly cuts: number;
  /** From a cut to the next connection. */
  readonly slowest_return_ms: number;
  /** For each client the number behind its last key. */
  readonly keys: Readonly<Record<string, number>>;
  /** Keys behind a refused one that were applied all the same. */
  readonly wrong: readonly string[];
}

const BURST = 5;

/** Two clients take control from each other while both type, and end the input when all is typed. */
export async function runTakeovers(options: TakeoverOptions): Promise<TakeoverFacts> {
  const table: Table = { ...options, taken: 0, cuts: 0, slowest_return_ms: 0, wrong: [] };
  await using ann = new Typist("a", table);
  await using bob = new Typist("b", table);
  await Promise.all([ann.type(), bob.type()]);
  await ann.end();
  const { taken, cuts, slowest_return_ms, wrong } = table;
  const keys = { a: ann.acknowledged, b: bob.acknowledged };
  return { takeovers: taken, cuts, slowest_return_ms, keys, wrong };
}

/** Finds keys that are missing, doubled or out of order in the output of the session. */
export function checkKeys(printed: string, { keys }: Pick<TakeoverFacts, "keys">): string[] {
  const lines = printed.trimEnd().split("\n");
  return Object.entries(keys).flatMap(([name, last]) => {
    const arrived = lines.filter((key) => key.startsWith(name)).map((key) => Number(key.slice(1)));
    const at = Array.from({ length: Math.max(last, arrived.length) }, (_, key) => key).find(
      (key) => arrived[key] !== key,
    );
    return at === undefined ? [] : [`${name}${at} was expected, ${name}${arrived[at]} came`];
  });
}

interface Table extends TakeoverOptions {
  taken: number;
  cuts: number;
  slowest_return_ms: number;
  readonly wrong: string[];
}

/** Takes control and types numbered keys; a key that is refused is typed again. */
class Typist implements AsyncDisposable {
  readonly name: string;
  /** All keys before it have been acknowledged. */
  acknowledged = 0;
  /** The number behind the last key that was sent. */
  #last = 0;
  #cuts = 0;
  #cutAt: number | undefined;
  readonly #table: Table;
  readonly #sockets: WebSocket[] = [];
  readonly #attachment: ReturnType<ReturnType<typeof createClient>["attach"]>;
  readonly #heard: Promise<void>;

  constructor(name: string, table: Table) {
    this.name = name;
    this.#table = table;
    const sockets = this.#sockets;
    const Kept = class extends WebSocket {
      constructor(...given: ConstructorParameters<typeof WebSocket>) {
        super(...given);
        sockets.push(this);
        sockets.splice(0, sockets.length - 1);
      }
    };
    const client = createClient({ url: table.url, token: table.token, WebSocket: Kept });
    this.#attachment = client.attach(table.session_id, { since: "tail", stay: true });
    this.#heard = this.#hear();
  }

  async type(): Promise<void> {
    const { takeovers, burst = BURST, wrong } = this.#table;
    while (this.#table.taken < takeovers || this.acknowledged < this.#last) {
      const taken = this.#attachment.take().catch(() => undefined);
      if (this.#table.taken < takeovers)
        this.#last = Math.max(this.#last, this.acknowledged + burst);
      const typed: Promise<boolean>[] = [];
      for (let key = this.acknowledged; key < this.#last; key += 1) typed.push(this.#send(key));
      this.#cutSometimes();
      const applied = await Promise.all(typed);
      await taken;
      const first = applied.indexOf(false);
      const count = first === -1 ? applied.length : first;
      if (applied.slice(count).includes(true))
        wrong.push(`a key behind ${this.name}${this.acknowledged + count} was applied`);
      this.acknowledged += count;
    }
  }

  async end(): Promise<void> {
    await this.#attachment.take();
    await this.#attachment.eof();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#attachment.detach();
    await this.#heard;
  }

  #cutSometimes(): void {
    const { taken, cutEvery } = this.#table;
    if (Math.floor(taken / cutEvery) <= this.#cuts || this.#cutAt !== undefined) return;
    this.#cuts += 1;
    this.#table.cuts += 1;
    this.#cutAt = performance.now();
    this.#sockets.at(-1)?.close(4999);
  }

  async #send(key: number): Promise<boolean> {
    return await this.#attachment.write(`${this.name}${key}\n`).then(
      () => true,
      () => false,
    );
  }

  async #hear(): Promise<void> {
    const table = this.#table;
    for await (const event of this.#attachment) {
      if (event.type === "taken_over") table.taken += 1;
      if (event.type !== "restored" || this.#cutAt === undefined) continue;
      table.slowest_return_ms = Math.max(table.slowest_return_ms, performance.now() - this.#cutAt);
      this.#cutAt = undefined;
    }
  }
}
