import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import type { Door } from "#test/harness/gateway.ts";
import { type GatewayProcess, openGatewayProcess } from "#test/harness/gateway-process.ts";
import { openTestHost } from "#test/harness/host.ts";
import { openRandom, type Random } from "#test/harness/random.ts";
import { repeats } from "#test/harness/repeats.ts";

const LINES = repeats({ few: 1_500_000, full: 6_500_000 });
const RESTARTS = repeats({ few: 2, full: 5 });

/** A gateway that is killed and started again on the same port, as often as a test likes. */
class Mortal implements AsyncDisposable {
  readonly #dataDir: string;
  #process: GatewayProcess;

  constructor(dataDir: string, process: GatewayProcess) {
    this.#dataDir = dataDir;
    this.#process = process;
  }

  get door(): Door {
    return this.#process.door;
  }

  async restart(): Promise<void> {
    const { port } = this.#process;
    await this.#process.kill("SIGKILL");
    this.#process = await openGatewayProcess({ dataDir: this.#dataDir, port });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }
}

async function openMortal(dataDir: string): Promise<Mortal> {
  return new Mortal(dataDir, await openGatewayProcess({ dataDir }));
}

/** A client that comes back by its offset after every cut, until it has seen the exit. */
async function stitch(
  mortal: Mortal,
  sessionId: string,
  random: Random,
): Promise<{ bytes: Buffer; cuts: number }> {
  const parts: Buffer[] = [];
  const isBinary = random.boolean();
  let next = 0;
  let cuts = 0;
  for (;;) {
    const cutAt = next + random.below(4_000_000);
    try {
      await using socket = await mortal.door.attach(sessionId, `?since=${next}&encoding=base64`, {
        protocols: isBinary ? ["reins.bin.v1"] : [],
      });
      const take = () => {
        const frames = isBinary
          ? socket.binary.splice(0).map(({ offset, bytes }) => ({ offset, bytes }))
          : socket.frames
              .splice(0, socket.frames.findLastIndex(({ type }) => type === "stdout") + 1)
              .filter(({ type }) => type === "stdout")
              .map(({ offset, data }) => ({
                offset: Number(offset),
                bytes: Buffer.from(String(data), "base64"),
              }));
        for (const { offset, bytes } of frames) {
          expect(offset).toBe(next);
          parts.push(bytes);
          next += bytes.length;
        }
      };
      while (socket.closed === undefined && next < cutAt) {
        take();
        await setImmediate();
      }
      take();
      if (socket.closed?.code === 1000) return { bytes: Buffer.concat(parts), cuts };
    } catch (error) {
      // Nobody listens for a moment; whoever comes back later finds everything.
      if (
        !String(error).includes("ECONNREFUSED") &&
        !String(error).includes("socket hang up") &&
        !String(error).includes("ECONNRESET")
      )
        throw error;
    }
    cuts += 1;
  }
}

test("numbered lines reach every client whole, through cuts and kills of the gateway", async () => {
  await using host = await openTestHost();
  await using mortal = await openMortal(host.dataDir);
  const { session_id } = await mortal.door.get("session.create", {
    kind: "command",
    argv: ["seq", "1", String(LINES)],
  });
  const random = openRandom(20_261_115);
  const clients = Array.from({ length: 3 }, () =>
    stitch(mortal, session_id, openRandom(random.below(1e9))),
  );
  for (let restart = 0; restart < RESTARTS; restart += 1) {
    await waitFor("some progress", async () => {
      const { tail } = await host.client.call("session.get", { session_id });
      return tail > (restart * LINES * 5) / RESTARTS;
    });
    await mortal.restart();
  }
  const results = await Promise.all(clients);
  const { bytes: log } = await host.output(session_id);
  for (const { bytes, cuts } of results) {
    expect(cuts).toBeGreaterThan(0);
    expect(bytes.equals(log)).toBe(true);
  }
  expect(log.toString("latin1", log.length - 9)).toBe(`\n${LINES}\n`);
});

test("a terminal keeps its shell, id and offsets through kill -9 of the gateway", async () => {
  await using host = await openTestHost();
  await using mortal = await openMortal(host.dataDir);
  const made = await mortal.door.get("session.create", {
    kind: "terminal",
    argv: ["/bin/bash", "--norc"],
  });
  const { session_id, pid } = made;
  const before = await mortal.door.attach(session_id, "?role=controller");
  before.send({ type: "stdin", data: "X=kept; echo rea''dy\n" });
  await before.printed("ready");
  const seen = before.output();
  await mortal.restart();
  expect((await before.ended()).code).not.toBe(1000);
  expect(await mortal.door.get("session.get", { session_id })).toMatchObject({
    pid,
    state: { kind: "running" },
  });
  await using after = await mortal.door.attach(
    session_id,
    `?role=controller&takeover=1&since=${seen.length}`,
  );
  expect(await after.frame("connected")).toMatchObject({ offset: seen.length, role: "controller" });
  after.send({ type: "stdin", data: "echo $X\n" });
  await after.printed("kept\r\n");
  const whole = await mortal.door.fetch(`/v1/sessions/${session_id}/output?limit=${seen.length}`);
  expect(Buffer.from(await whole.arrayBuffer()).equals(seen)).toBe(true);
});

test("a gateway that is told to stop says so to its clients, and starts again where it was", async () => {
  await using host = await openTestHost();
  const gateway = await openGatewayProcess({ dataDir: host.dataDir });
  const { session_id } = await gateway.door.get("session.create", {
    kind: "terminal",
    argv: ["/bin/cat"],
  });
  await using socket = await gateway.door.attach(session_id);
  await socket.frame("connected");
  await gateway.kill("SIGTERM");
  expect((await socket.ended()).code).toBe(1012);
  expect(socket.frames.at(-1)).toMatchObject({ type: "closing", reason: "shutting_down" });
  expect(readFileSync(join(host.dataDir, "gateway.log"), "utf8")).toContain("gateway stops");
  expect(await host.client.call("session.get", { session_id })).toMatchObject({
    state: { kind: "running" },
  });
});
