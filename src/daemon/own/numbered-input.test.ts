import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { InProcessSocket } from "#app/attach/in-process-socket.ts";
import { type Attachment, openAttachment } from "#client/attach/attachment.ts";
import { findAttachmentName } from "#contract/terminal/input-frame.ts";
import { type MemoryHost, openMemoryHost } from "#session/testing/memory-host.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { openRandom } from "#test/harness/random.ts";
import { openOwn } from "./own-attach.ts";

type Step = { readonly who: 0 | 1; readonly does: (typeof deeds)[number] };

const deeds = ["type", "type", "take", "drop", "cut", "lose", "arrive", "arrive"] as const;
/** Turns that a key is waited for which may never come. */
const TURNS = 2000;
const step = fc.record({ who: fc.constantFrom(0, 1), does: fc.constantFrom(...deeds) });

test("through cuts, repeats and takeovers each key of two clients is typed once and in order, and no other is", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.array(step, { minLength: 5, maxLength: 40 }), check),
    { numRuns: 150 },
  );
}, 120_000);

async function check(seed: number, steps: readonly Step[]): Promise<void> {
  const { below } = openRandom(seed);
  await using host = await openMemoryHost({ random: () => below(1000) / 1000 });
  await using ann = new Typist("a", host);
  await using bob = new Typist("b", host);
  const typists = [ann, bob];
  for (const { who, does } of steps) {
    if (does === "cut") host.cut();
    else if (does === "lose") host.loseLast();
    else if (does === "arrive") await arrive(host);
    else typists[who]?.[does]();
  }
  for (const typist of typists) {
    const { taken, refused } = await typist.settle();
    const arrived = host
      .typed()
      .split("\n")
      .filter((line) => line.startsWith(typist.name));
    expect(arrived).toEqual(taken);
    expect(refused.filter((code) => code !== "not_controller")).toEqual([]);
  }
}

/** The next key arrives, and its answer is still under way. */
async function arrive(host: MemoryHost): Promise<void> {
  const before = host.typed();
  for (let turn = 0; turn < TURNS && host.typed() === before; turn += 1) await setImmediate();
}

/** A client of the host, with its attachment in the same process. */
class Typist implements AsyncDisposable {
  readonly name: string;
  readonly #sockets: InProcessSocket[] = [];
  readonly #attachment: Attachment;
  readonly #heard: Promise<void>;
  readonly #typed: Promise<{ readonly key: string; readonly code: string | undefined }>[] = [];
  readonly #asked: Promise<unknown>[] = [];

  constructor(name: string, { hosts, sessionId }: MemoryHost) {
    this.name = name;
    const host = hosts.of(sessionId);
    const screens = () => Promise.reject(new Error("no screen is painted here"));
    const deps = { hosts, caller: createTestCaller(), screens };
    const socket = (_name: string, query: object, protocols: readonly string[]) => {
      const named = findAttachmentName(protocols);
      const opened = new InProcessSocket(async (peer) =>
        openOwn(deps, await host.open(sessionId), { ...query, name: named, peer }),
      );
      this.#sockets.push(opened);
      return opened;
    };
    const getSession = () => host.call("session.get", { session_id: sessionId });
    const transport = { random: () => 0, pause: () => setImmediate(undefined), socket };
    this.#attachment = openAttachment({ transport, getSession }, sessionId, {
      ...{ role: "viewer", stay: true },
    });
    this.#heard = this.#hear();
  }

  type(): void {
    const key = `${this.name}${this.#typed.length}`;
    const written = this.#attachment.write(`${key}\n`).then(
      () => ({ key, code: undefined }),
      (fault: { readonly code: string }) => ({ key, code: fault.code }),
    );
    this.#typed.push(written);
  }

  take(): void {
    this.#asked.push(this.#attachment.take().catch(() => undefined));
  }

  /** The client's connection ends, and with it all that is under way. */
  drop(): void {
    this.#sockets.at(-1)?.close(1006);
  }

  async settle(): Promise<{ readonly taken: string[]; readonly refused: string[] }> {
    await Promise.all(this.#asked);
    const all = await Promise.all(this.#typed);
    return {
      taken: all.filter(({ code }) => code === undefined).map(({ key }) => key),
      refused: all.flatMap(({ code }) => code ?? []),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#attachment.detach();
    await this.#heard;
  }

  async #hear(): Promise<void> {
    for await (const _ of this.#attachment);
  }
}
