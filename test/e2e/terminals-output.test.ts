import { createHash, randomBytes } from "node:crypto";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { type Door, openTestGateway } from "#test/harness/gateway.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { residentMemory } from "#test/harness/processes.ts";
import { repeats } from "#test/harness/repeats.ts";
import type { TestSocket } from "#test/harness/socket.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** The output of terminals, for any amount and any reader. */

const leaseGateway = leaseForFile(() => openTestGateway());

const MIB = 1024 * 1024;
const patient = { timeout: 120_000 };
const LONG_TEST_MS = 180_000;
/** What a process may grow by and is still flat, in KiB. */
const FLAT_KIB = 100 * 1024;
const AT_A_TIME = 8;

/** Does it so often, some at the same time, which is the load that the others run under. */
async function repeat<T>(times: number, run: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let started = 0;
  const work = async () => {
    while (started < times) {
      started += 1;
      results.push(await run());
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return results;
}

/** Runs it on a terminal to its end and reads its log. */
async function runAndRead(door: Door, command: string) {
  const argv = ["/bin/sh", "-c", command];
  const { session_id } = await door.get("session.create", { kind: "terminal", argv });
  const wait = { session_id, for: "exit", timeout_ms: 60_000 } as const;
  const { state } = await door.get("session.wait", wait);
  const response = await door.fetch(`/v1/sessions/${session_id}/output?since=0&limit=${2 * MIB}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  return { bytes, code: state.kind === "exited" ? state.exit_code : state.kind };
}

test(
  "a byte and an exit at once, again and again: every log holds the byte",
  async () => {
    await using gateway = await leaseGateway();
    const times = repeats({ few: 40, full: 1000 });
    const runs = await repeat(times, () => runAndRead(gateway, "printf x; exit 0"));
    const found = new Set(runs.map(({ bytes, code }) => `${bytes.toString("latin1")} ${code}`));
    expect([runs.length, ...found]).toEqual([times, "x 0"]);
  },
  LONG_TEST_MS,
);

test(
  "a burst of 1 MB and an exit at once, again and again: every log has its hash",
  async () => {
    await using gateway = await leaseGateway();
    using dir = openTempDir();
    const burst = randomBytes(1_000_000);
    const file = join(dir.path, "burst");
    writeFileSync(file, burst);
    const hash = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
    const times = repeats({ few: 10, full: 200 });
    const runs = await repeat(times, async () => {
      const { bytes, code } = await runAndRead(gateway, `stty raw; cat ${file}; exit 3`);
      return `${hash(bytes)} ${code}`;
    });
    expect([runs.length, ...new Set(runs)]).toEqual([times, `${hash(burst)} 3`]);
  },
  LONG_TEST_MS,
);

const BINARY = { protocols: ["reins.bin.v1"] };

/** A viewer that stops reading behind the first frame; what comes then stays in the kernel's buffers. */
async function openFrozen(door: Door, sessionId: string): Promise<TestSocket> {
  const viewer = await door.attach(sessionId, "?since=0", BINARY);
  await viewer.frame("connected");
  viewer.socket.pause();
  return viewer;
}

const openFlood = (door: Door) =>
  door.get("session.create", { kind: "terminal", argv: ["/bin/sh", "-c", "stty raw; exec yes"] });

async function countCut(door: Door): Promise<number> {
  const text = await (await door.fetch("/metrics")).text();
  return Number(/^reins_slow_viewers_total (\d+)$/m.exec(text)?.[1] ?? 0);
}

test(
  "while a viewer does not read, the others, the child and the host's memory do not notice",
  async () => {
    // Nobody is cut here: that the others go on is not owed to the cut.
    const patience = { slowMs: limits.duration_ms, deadPeerMs: limits.duration_ms };
    await using gateway = await openTestGateway({ patience });
    const { session_id } = await openFlood(gateway);
    const argv = ["/bin/cat"];
    const quiet = await gateway.get("session.create", { kind: "terminal", argv });
    await using _first = await openFrozen(gateway, session_id);
    await using _second = await openFrozen(gateway, session_id);
    await using reader = await gateway.attach(session_id, "?since=tail", BINARY);
    await using typist = await gateway.attach(quiet.session_id, "?role=controller");
    const tail = async () => (await gateway.get("session.get", { session_id })).tail;
    const begin = (await tail()) + 16 * MIB;
    await waitFor("the flood is under way", async () => (await tail()) > begin, patient);
    const before = residentMemory(gateway.host.pid);
    const step = 8 * MIB;
    const rounds = repeats({ few: 3, full: 20 });
    for (let round = 1; round <= rounds; round += 1) {
      const seen = reader.binary.length;
      await waitFor(
        "the child goes on",
        async () => (await tail()) > begin + round * step,
        patient,
      );
      await waitFor("the reader goes on", () => reader.binary.length > seen, patient);
      expect(
        await typist.ask({ type: "stdin", data: `${round};\n`, id: `${round}` }),
      ).toMatchObject({
        type: "ack",
      });
      await typist.printed(`\n${round};`);
      expect(residentMemory(gateway.host.pid) - before).toBeLessThan(FLAT_KIB);
    }
    expect(reader.closed).toBeUndefined();
    expect(await countCut(gateway)).toBe(0);
  },
  LONG_TEST_MS,
);

test("a viewer that does not read is cut within a published bound, by a code to come back after, and comes back", async () => {
  await using gateway = await openTestGateway({ patience: { slowMs: 300, deadPeerMs: 60_000 } });
  const published = await gateway.get("server.limits", {});
  expect(published).toMatchObject({ slow_viewer_ms: 10_000 });
  const { session_id } = await openFlood(gateway);
  await using frozen = await openFrozen(gateway, session_id);
  await waitFor("it is cut", async () => (await countCut(gateway)) === 1, patient);
  frozen.socket.resume();
  // Try again later, in the registry of close codes.
  expect(await frozen.ended()).toEqual({ code: 1013, reason: expect.stringContaining("too slow") });
  const last = frozen.binary.at(-1);
  const since = (last?.offset ?? 0) + (last?.bytes.length ?? 0);
  expect(frozen.output().length).toBe(since);
  await using back = await gateway.attach(session_id, `?since=${since}`, BINARY);
  const [first] = await waitFor("more", () => back.binary.length > 0 && back.binary, patient);
  // What was evicted meanwhile is said, and nothing is missing besides.
  const gap = back.all("gap").at(0) ?? { from: since, to: since };
  expect([gap.from, gap.to]).toEqual([since, first?.offset]);
});

function diskBytes(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile())
    .reduce((sum, { parentPath, name }) => {
      // It may have been evicted since it was listed.
      const stat = statSync(join(parentPath, name), { throwIfNoEntry: false });
      return sum + (stat?.size ?? 0);
    }, 0);
}

test(
  "with no viewer more than is kept is printed to its end, within the cap, and what is not kept is marked",
  async () => {
    await using gateway = await leaseGateway();
    const { host } = gateway;
    const total = repeats({ few: 144, full: 1024 }) * MIB;
    const before = residentMemory(host.pid);
    const argv = ["/bin/sh", "-c", `stty raw; yes | head -c ${total}; exit 4`];
    const { session_id } = await gateway.get("session.create", { kind: "terminal", argv });
    const most = { disk: 0, memory: 0 };
    const state = await waitFor(
      "its end",
      async () => {
        most.disk = Math.max(most.disk, diskBytes(join(host.sessions, session_id)));
        most.memory = Math.max(most.memory, residentMemory(host.pid));
        const session = await gateway.get("session.get", { session_id });
        return session.state.kind === "exited" && session.state;
      },
      patient,
    );
    expect(state).toMatchObject({ exit_code: 4, signal: null, reason: "exited", tail: total });
    expect(most.memory - before).toBeLessThan(FLAT_KIB);
    // The index and the segment that is being written come on top.
    expect(most.disk).toBeLessThan(limits.output_retained_bytes * 1.25);
    const read = (since: number) =>
      gateway.fetch(`/v1/sessions/${session_id}/output?since=${since}&limit=1000`);
    const middle = await read(total / 2);
    const [from, to] = (middle.headers.get("X-Reins-Gap") ?? "").split("-").map(Number);
    expect(from).toBe(total / 2);
    expect(to).toBeGreaterThan(total - limits.output_retained_bytes);
    expect(middle.headers.get("X-Reins-Offset")).toBe(String(to));
    expect(await middle.text()).toMatch(/^(y\n)+$/);
    const end = await read(total - 1000);
    expect(end.headers.get("X-Reins-Gap")).toBeNull();
    expect((await end.text()).length).toBe(1000);
    await using late = await gateway.attach(session_id, "?since=0", BINARY);
    await late.frame("exit");
    const [gap, ...others] = late.all("gap");
    expect([gap?.to, others]).toEqual([to, []]);
    const kept = late.output().length;
    expect(kept + Number(gap?.to) - Number(gap?.from)).toBe(total);
    expect(kept).toBeLessThanOrEqual(limits.output_retained_bytes);
  },
  LONG_TEST_MS,
);
