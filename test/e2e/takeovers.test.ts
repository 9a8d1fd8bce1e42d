import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { createClient } from "#client/client.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { repeats } from "#test/harness/repeats.ts";

const TAKEOVERS = repeats({ few: 20, full: 10_000 });
/** Keys that are sent at once, without waiting for the control that they need. */
const BURST = 5;
/** A client that is so many keys ahead waits: the session remembers the ids of the last 1,024 inputs. */
const LEAD_KEYS = 200;
/** Takeovers between two cuts of a connection. */
const CUT_EVERY = repeats({ few: 15, full: 1000 });
const LIMIT_MS = repeats({ few: 60_000, full: 3_600_000 });

test("two clients take control from each other while both type: no key is lost, doubled or out of order", {
  timeout: LIMIT_MS,
}, async () => {
  await using gateway = await openTestGateway();
  const client = createClient({ url: gateway.url, token: gateway.token });
  const { session_id } = await client.call("session.create", {
    ...{ kind: "command", command: "cat", stdin: true },
  });
  const count = { takeovers: 0 };
  await using ann = new Typist("a", { gateway, session_id, count });
  await using bob = new Typist("b", { gateway, session_id, count });
  await Promise.all([ann.type(bob), bob.type(ann)]);
  await ann.end();
  const printed = await readAll(gateway, session_id);
  for (const { name, acknowledged, last } of [ann, bob]) {
    const arrived = printed
      .filter((key) => key.startsWith(name))
      .map((key) => Number(key.slice(1)));
    expect(arrived).toEqual(Array.from({ length: last }, (_, at) => at));
    expect(acknowledged).toBe(last);
  }
  expect(count.takeovers).toBeGreaterThanOrEqual(TAKEOVERS);
});

interface Table {
  readonly gateway: TestGateway;
  readonly session_id: string;
  /** How often control was taken from one of the two. */
  readonly count: { takeovers: number };
}

/** Takes control and types numbered keys; a key that is refused is sent again, under its id. */
class Typist implements AsyncDisposable {
  readonly name: string;
  /** All keys before it have been acknowledged. */
  acknowledged = 0;
  /** The number behind the last key that was sent. */
  last = 0;
  readonly #table: Table;
  readonly #sockets: WebSocket[] = [];
  readonly #attachment: ReturnType<ReturnType<typeof createClient>["attach"]>;
  readonly #heard: Promise<void>;

  constructor(name: string, table: Table) {
    this.name = name;
    this.#table = table;
    const { url, token } = table.gateway;
    const sockets = this.#sockets;
    const Kept = class extends WebSocket {
      constructor(...given: ConstructorParameters<typeof WebSocket>) {
        super(...given);
        sockets.push(this);
      }
    };
    const client = createClient({ url, token, WebSocket: Kept });
    this.#attachment = client.attach(table.session_id, { since: "tail", stay: true });
    this.#heard = this.#hear();
  }

  async type(other: Typist): Promise<void> {
    const { count } = this.#table;
    let cuts = 0;
    while (count.takeovers < TAKEOVERS || this.acknowledged < this.last) {
      if (count.takeovers < TAKEOVERS) this.last = Math.max(this.last, this.acknowledged + BURST);
      if (this.acknowledged > other.acknowledged + LEAD_KEYS && count.takeovers < TAKEOVERS) {
        await setImmediate();
        continue;
      }
      const taken = this.#attachment.take().catch(() => undefined);
      if (count.takeovers < TAKEOVERS) this.last = Math.max(this.last, this.acknowledged + BURST);
      const typed: Promise<boolean>[] = [];
      for (let key = this.acknowledged; key < this.last; key += 1) typed.push(this.#send(key));
      if (Math.floor(count.takeovers / CUT_EVERY) > cuts) {
        cuts += 1;
        this.#sockets.at(-1)?.close(4999);
      }
      const applied = await Promise.all(typed);
      await taken;
      // Behind a key that was refused none may have been applied.
      const first = applied.indexOf(false);
      expect(applied.slice(first === -1 ? applied.length : first)).not.toContain(true);
      this.acknowledged += first === -1 ? applied.length : first;
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

  async #send(key: number): Promise<boolean> {
    const id = `${this.name}_${key}`;
    const written = this.#attachment.write(`${this.name}${key}\n`, { id });
    return await written.then(
      () => true,
      () => false,
    );
  }

  async #hear(): Promise<void> {
    for await (const event of this.#attachment)
      if (event.type === "taken_over") this.#table.count.takeovers += 1;
  }
}

async function readAll(gateway: TestGateway, session_id: string): Promise<string[]> {
  await waitFor("the session has ended", async () => {
    const { state } = await gateway.get("session.get", { session_id });
    return state.kind === "exited" && state.final;
  });
  await using socket = await gateway.attach(session_id, "?since=0");
  await socket.ended();
  return socket.output().toString().trimEnd().split("\n");
}
