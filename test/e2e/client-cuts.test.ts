import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo, Socket } from "node:net";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Attachment } from "#client/attach/attachment.ts";
import type { AttachEvent } from "#client/attach/frames.ts";
import { createClient } from "#client/client.ts";
import { openGatewayDaemon } from "#daemon/gateway.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { openTestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { binPath } from "#test/harness/packaged.ts";
import { openRandom } from "#test/harness/random.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

const leaseGateway = leaseForFile(() => openTestGateway());
const LINES = 600_000;
/** Far from regular, and the same in every run. */
const SEED = 20_261_115;

test("5 MB through a connection that is cut at random bytes are the log, byte for byte", async () => {
  await using proxy = await openCuttingProxy({ least: 20_000, most: 400_000 });
  await using gateway = await openBehind(proxy);
  const client = createClient({ url: proxy.url, token: gateway.token });
  const { session_id } = await direct(gateway).call("session.create", {
    kind: "command",
    command: `seq -f '%08.0f' ${LINES}`,
  });
  await using attached = client.attach(session_id, { since: 0 });
  const seen = await readAll(attached);
  const { bytes: log } = await gateway.host.output(session_id);
  expect(log.length).toBe(LINES * 9);
  expect(proxy.cuts()).toBeGreaterThan(5);
  expect(seen.count("restored")).toBeGreaterThan(5);
  expect(seen.count("gap")).toBe(0);
  expect(Buffer.compare(seen.bytes(), log)).toBe(0);
  expect(seen.last()).toMatchObject({ type: "exit", exit_code: 0, tail: LINES * 9 });
});

test("what is written through cuts is applied once and in order", async () => {
  using dir = openTempDir();
  // An input is about 25 bytes on the wire, its answer 50: each connection lives for a few.
  await using proxy = await openCuttingProxy({ least: 1500, most: 4000 });
  await using gateway = await openBehind(proxy);
  const file = join(dir.path, "typed");
  const { session_id } = await direct(gateway).call("session.create", {
    kind: "command",
    command: `cat > ${file}`,
    stdin: true,
  });
  const client = createClient({ url: proxy.url, token: gateway.token });
  await using attached = client.attach(session_id, { role: "controller" });
  const events = readAll(attached);
  const lines = Array.from({ length: 200 }, (_, line) => `line ${line}\n`);
  await Promise.all(lines.map((line) => attached.write(line)));
  await attached.eof();
  const seen = await events;
  expect(readFileSync(file, "utf8")).toBe(lines.join(""));
  expect(proxy.cuts()).toBeGreaterThan(3);
  expect(seen.last()).toMatchObject({ type: "exit", exit_code: 0 });
});

test("the same id is written once, whoever writes it again", async () => {
  using dir = openTempDir();
  await using gateway = await leaseGateway();
  const file = join(dir.path, "typed");
  const client = direct(gateway);
  const { session_id } = await client.call("session.create", {
    kind: "command",
    command: `cat > ${file}`,
    stdin: true,
  });
  for (const text of ["once\n", "once\n"]) {
    await using attached = client.attach(session_id, { role: "controller", takeover: true });
    await attached.write(text, { id: "the-same" });
  }
  await using attached = client.attach(session_id, { role: "controller", takeover: true });
  await attached.eof();
  expect((await readAll(attached)).last()).toMatchObject({ type: "exit" });
  expect(readFileSync(file, "utf8")).toBe("once\n");
});

test("an attachment and a stream of events go on when the gateway is restarted", async () => {
  await using host = await openTestHost();
  const options = {
    dataDir: host.dataDir,
    version: "test",
    command: [process.execPath, binPath],
    env: process.env,
  };
  const first = await openGatewayDaemon({ ...options, flags: { listen: "127.0.0.1:0" } });
  const { host: listen } = new URL(first.url);
  const token = readFileSync(join(host.dataDir, "token"), "utf8").trim();
  const client = createClient({ url: first.url, token });
  const { session_id } = await client.call("session.create", {
    kind: "command",
    command: "cat",
    stdin: true,
  });
  await using attached = client.attach(session_id, { role: "controller" });
  const seen = new Seen();
  const reading = seen.read(attached);
  const ending = new AbortController();
  const titles: string[] = [];
  const watching = (async () => {
    for await (const { data } of client.stream(
      "session.events",
      { session_id },
      { signal: ending.signal },
    ))
      if (data.type === "session.title") titles.push(data.title);
  })();
  await client.call("session.update", { session_id, title: "before" });
  await attached.write("before\n");
  await waitFor("the first words", () => titles.length === 1 && seen.text() === "before\n");
  await first[Symbol.asyncDispose]();
  const meanwhile = attached.write("meanwhile\n");
  await using _second = await openGatewayDaemon({ ...options, flags: { listen } });
  await meanwhile;
  await client.call("session.update", { session_id, title: "after" });
  await waitFor(
    "all the words",
    () => titles.length === 2 && seen.text() === "before\nmeanwhile\n",
  );
  expect(titles).toEqual(["before", "after"]);
  await attached.eof();
  await reading;
  expect(seen.count("closing")).toBe(1);
  expect(seen.count("restored")).toBe(1);
  expect(seen.last()).toMatchObject({ type: "exit", exit_code: 0 });
  ending.abort();
  await expect(watching).rejects.toMatchObject({ name: "AbortError" });
});

test("a reader that falls behind costs the connection and misses nothing", async () => {
  await using gateway = await leaseGateway();
  const client = direct(gateway);
  const { session_id } = await client.call("session.create", {
    kind: "command",
    command: `seq -f '%08.0f' ${LINES}`,
  });
  await client.call("session.wait", { session_id, for: "exit", timeout_ms: 30_000 });
  await using attached = client.attach(session_id, { since: 0, queueBytes: 500_000 });
  const iterator = attached[Symbol.asyncIterator]();
  expect((await iterator.next()).value).toMatchObject({ type: "connected" });
  // Nobody reads until the session has lost its viewer.
  await waitFor("the connection to be given up", async () => {
    const { viewers } = await client.call("session.get", { session_id });
    return viewers === 0;
  });
  const seen = await readAll(attached);
  expect(seen.count("restored")).toBeGreaterThan(0);
  expect(seen.bytes().length).toBe(LINES * 9);
  expect(seen.text().endsWith(`${String(LINES).padStart(8, "0")}\n`)).toBe(true);
  expect(attached.offset).toBe(LINES * 9);
});

/** It answers only to names that it knows. */
async function openBehind(proxy: CuttingProxy): Promise<TestGateway> {
  const gateway = await openTestGateway({ flags: { public_url: proxy.url } });
  proxy.forward(gateway.url);
  return gateway;
}

function direct({ url, token }: { readonly url: string; readonly token: string }) {
  return createClient({ url, token });
}

/** What a reader has got, which checks that each byte follows the one before. */
class Seen {
  readonly events: AttachEvent[] = [];
  readonly #chunks: Uint8Array[] = [];
  #next: number | undefined;

  async read(attached: Attachment): Promise<this> {
    for await (const event of attached) {
      this.events.push(event);
      if (event.type !== "output") continue;
      if (event.offset !== (this.#next ?? event.offset)) throw new Error("a byte is missing");
      this.#next = event.offset + event.bytes.length;
      this.#chunks.push(event.bytes);
    }
    return this;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  text(): string {
    return this.bytes().toString("utf8");
  }

  count(type: AttachEvent["type"]): number {
    return this.events.filter((event) => event.type === type).length;
  }

  last(): AttachEvent | undefined {
    return this.events.at(-1);
  }
}

function readAll(attached: Attachment): Promise<Seen> {
  return new Seen().read(attached);
}

interface CuttingProxy extends AsyncDisposable {
  readonly url: string;
  cuts(): number;
  /** Whom it stands before. */
  forward(target: string): void;
}

/** Passes bytes on until a connection has had its number of them, then cuts it in both directions. */
async function openCuttingProxy({
  least,
  most,
}: {
  readonly least: number;
  readonly most: number;
}): Promise<CuttingProxy> {
  const random = openRandom(SEED);
  const sockets = new Set<Socket>();
  let cuts = 0;
  let target = new URL("http://127.0.0.1");
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let left = least + random.below(most - least);
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    const pass = (to: Socket) => (chunk: Buffer) => {
      const part = chunk.subarray(0, left);
      left -= part.length;
      to.write(part);
      if (left > 0) return;
      cuts += 1;
      // What has passed arrives; a reset would throw it away.
      to.end(end);
    };
    client.on("data", pass(upstream));
    upstream.on("data", pass(client));
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", end);
      socket.on("close", end);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server that listens has an address of this form.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    cuts: () => cuts,
    forward: (url) => {
      target = new URL(url);
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
