import { createHash } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost, type TestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { countDescriptors, findProcesses, residentMemory } from "#test/harness/processes.ts";
import { repeats } from "#test/harness/repeats.ts";

const leaseHost = leaseForFile(() => openTestHost());

/** More than the host keeps, and more than its memory may grow by. */
const FLOOD_MIB = repeats({ few: 112, full: 160 });

const base64 = (text: string) => Buffer.from(text).toString("base64");

async function ended(host: TestHost, session_id: string) {
  using watch = await host.client.watch(session_id);
  await watch.until(({ session }) => session.state.kind === "exited");
  return watch.session;
}

test.each(["terminal", "command"] as const)(
  "%s: exit code, signal and reason are apart",
  async (kind) => {
    await using host = await leaseHost();
    const run = async (command: string) =>
      (await ended(host, (await host.create({ kind, command })).session_id)).state;
    expect(await run("exit 3")).toMatchObject({ exit_code: 3, signal: null, reason: "exited" });
    expect(await run("kill -9 $$")).toMatchObject({
      exit_code: 137,
      signal: "SIGKILL",
      reason: "exited",
    });
    expect(await run("kill -TERM $$")).toMatchObject({
      exit_code: 143,
      signal: "SIGTERM",
      reason: "exited",
    });
  },
);

test.each(["terminal", "command"] as const)(
  "%s: a burst and an exit at once lose nothing",
  async (kind) => {
    await using host = await leaseHost();
    const expected = createHash("sha256").update(Buffer.alloc(1_000_000, "x")).digest("hex");
    const runs = Array.from({ length: repeats({ few: 5, full: 20 }) }, async () => {
      const { session_id } = await host.create({
        kind,
        command: "head -c 1000000 /dev/zero | tr '\\0' x; exit 3",
      });
      const { bytes } = await host.output(session_id);
      const { state } = await ended(host, session_id);
      return [
        createHash("sha256").update(bytes).digest("hex"),
        state.kind === "exited" && state.exit_code,
      ];
    });
    for (const run of await Promise.all(runs)) expect(run).toEqual([expected, 3]);
  },
);

test("stdout and stderr keep their channel through the log", async () => {
  await using host = await leaseHost();
  const { session_id } = await host.create({
    command: "for i in 1 2 3; do echo out$i; echo err$i >&2; done",
  });
  const { chunks } = await host.output(session_id);
  const text = (channel: number) =>
    chunks
      .map((chunk) =>
        chunk.kind === "bytes" && chunk.channel === channel
          ? Buffer.from(chunk.bytes).toString()
          : "",
      )
      .join("");
  expect(text(1)).toBe("out1\nout2\nout3\n");
  expect(text(2)).toBe("err1\nerr2\nerr3\n");
});

test("a line longer than one argument may be still runs", async () => {
  await using host = await leaseHost();
  const { session_id } = await host.create({ command: `: ${"x".repeat(300_000)}; echo done` });
  expect((await host.output(session_id)).text).toBe("done\n");
});

test("the caller's umask and limit of open files reach the child, and no more of ours", async () => {
  await using host = await leaseHost();
  const { session_id } = await host.create({
    umask: 0o027,
    open_files: 300,
    command: "umask; ulimit -Sn; env | grep -c REINS_",
  });
  expect((await host.output(session_id)).text).toBe("0027\n300\n2\n");
});

test("output beyond the retention becomes a gap; the first part stays; memory and disk stay bounded", async () => {
  await using host = await openTestHost();
  const before = residentMemory(host.pid);
  const { session_id } = await host.create({
    kind: "terminal",
    command: `stty raw; yes 0123456 | head -c ${FLOOD_MIB}M`,
  });
  const { chunks } = await host.output(session_id);
  const total = chunks.reduce(
    (sum, chunk) => sum + (chunk.kind === "gap" ? chunk.to - chunk.from : chunk.bytes.length),
    0,
  );
  const session = await ended(host, session_id);
  expect(total).toBe(FLOOD_MIB * 1024 * 1024);
  expect(session.tail).toBe(total);
  // A reader that starts now finds the first segment, one gap, and what is retained.
  const late = await host.output(session_id);
  const lateGaps = late.chunks.filter((chunk) => chunk.kind === "gap");
  expect(late.chunks[0]).toMatchObject({ kind: "bytes", offset: 0 });
  expect(lateGaps.length).toBe(1);
  expect(late.bytes.length).toBeLessThanOrEqual(64 * 1024 * 1024);
  expect(late.text.replaceAll("0123456\n", "")).toBe("");
  expect(residentMemory(host.pid) - before).toBeLessThan(100 * 1024);
});

test("a child that never reads its input costs the others nothing", async () => {
  await using host = await leaseHost();
  const deaf = await host.create({ kind: "command", command: "exec sleep 1000", stdin: true });
  const piece = base64("x".repeat(200_000));
  let refused = 0;
  for (let at = 0; at < 30; at += 1) {
    await host.client
      .call("session.input", { session_id: deaf.session_id, data_b64: piece })
      .catch((error: { code: string }) => {
        expect(error.code).toBe("queue_full");
        refused += 1;
      });
  }
  expect(refused).toBeGreaterThan(0);
  const other = await host.create({ command: "cat", stdin: true });
  await host.client.call("session.input", {
    session_id: other.session_id,
    data_b64: base64("hello"),
    eof: true,
  });
  expect((await host.output(other.session_id)).text).toBe("hello");
  await host.client.call("session.close", { session_id: deaf.session_id });
});

test("a terminal stopped by Ctrl-S still exits and closes", async () => {
  await using host = await leaseHost();
  const { session_id } = await host.create({ kind: "terminal", command: "echo start; exec yes" });
  await waitFor(
    "output",
    async () => (await host.client.call("session.get", { session_id })).tail > 1000,
  );
  await host.client.call("session.input", { session_id, data_b64: base64("\x13") });
  const closed = await host.client.call("session.close", { session_id });
  expect(closed.state).toMatchObject({
    kind: "exited",
    signal: "SIGHUP",
    reason: "user_requested",
  });
});

test.each(["terminal", "command"] as const)(
  "%s: a grandchild that outlives the child delays no exit, and what it prints is kept",
  async (kind) => {
    await using host = await leaseHost();
    const marker = `8${process.pid}2.5`;
    const command = `trap '' HUP; (while read -r line; do echo "late $line"; done < <(sleep 0.2; echo 1; exec sleep ${marker})) & echo early; exit 5`;
    const { session_id } = await host.create({ kind, argv: ["bash", "-c", command] });
    const session = await ended(host, session_id);
    expect(session.state).toMatchObject({ exit_code: 5, final: false });
    await waitFor(
      "the late line",
      async () => (await host.client.call("session.get", { session_id })).tail > session.tail,
    );
    const closed = await host.client.call("session.close", { session_id });
    expect(closed.state).toMatchObject({ exit_code: 5, reason: "exited" });
    using watch = await host.client.watch(session_id);
    await watch.until(({ session: { state } }) => state.kind === "exited" && state.final);
    expect((await host.output(session_id)).text.replaceAll("\r", "")).toBe("early\nlate 1\n");
    expect(findProcesses(`sleep ${marker}`)).toEqual([]);
  },
);

test("a log directory deleted under a running session costs what was in it and nothing else", async () => {
  await using host = await leaseHost();
  const { session_id } = await host.create({
    command: 'echo one; while read -r line; do echo "$line"; done',
    stdin: true,
  });
  await waitFor(
    "the first line",
    async () => (await host.client.call("session.get", { session_id })).tail === 4,
  );
  rmSync(join(host.sessions, session_id), { recursive: true });
  const say = (text: string) =>
    host.client.call("session.input", { session_id, data_b64: base64(text) });
  await waitFor("the log to be made anew", async () => {
    await say("two\n");
    return existsSync(join(host.sessions, session_id, "output"));
  });
  await say("three\n");
  await host.client.call("session.input", { session_id, eof: true });
  expect((await ended(host, session_id)).state).toMatchObject({ exit_code: 0 });
  const { chunks, text } = await host.output(session_id);
  expect(chunks[0]).toMatchObject({ kind: "gap", from: 0 });
  expect(text.endsWith("three\n")).toBe(true);
  expect((await host.client.call("host.health", {})).errors).toBe(0);
});

test("offsets and descriptors: sessions come and go and leave nothing open", async () => {
  await using host = await openTestHost();
  const warm = await host.create({ kind: "terminal", command: "true" });
  await ended(host, warm.session_id);
  await waitFor("the first to be final", async () => {
    const { state } = await host.client.call("session.get", { session_id: warm.session_id });
    return state.kind === "exited" && state.final;
  });
  const before = countDescriptors(host.pid);
  const rounds = repeats({ few: 2, full: 10 });
  for (let round = 0; round < rounds; round += 1) {
    const opened = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        host.create({ kind: at % 2 === 0 ? "terminal" : "command", command: "echo x" }),
      ),
    );
    await Promise.all(opened.map(({ session_id }) => ended(host, session_id)));
  }
  await waitFor("descriptors as before", () => countDescriptors(host.pid) <= before, {
    timeout: 5000,
  });
});
