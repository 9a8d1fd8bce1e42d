import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lines as readLines } from "#log/lines.ts";
import { openLogFiles } from "#log/log-files.ts";
import { readRange } from "#log/read-range.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost, type TestHost } from "#test/harness/host.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

async function ended(host: TestHost, session_id: string) {
  using watch = await host.client.watch(session_id);
  await watch.until(({ session }) => session.state.kind === "exited");
  return watch.session;
}

test("a host without descriptors to spare refuses sessions and keeps those it has", async () => {
  await using host = await openTestHost({
    through: ["/bin/sh", "-c", 'ulimit -n 180; exec "$@"', "sh"],
  });
  const { live_cap } = await host.client.call("host.health", {});
  expect(live_cap).toBeLessThan(20);
  const opened = [];
  for (;;) {
    try {
      opened.push(await host.create({ kind: "terminal", argv: ["cat"] }));
    } catch (error) {
      expect(error).toMatchObject({ code: "too_many" });
      break;
    }
  }
  expect(opened.length).toBe(live_cap);
  const [first] = opened;
  await host.client.call("session.input", {
    session_id: first?.session_id ?? "",
    data_b64: Buffer.from("hi\n\x04").toString("base64"),
  });
  expect((await host.output(first?.session_id ?? "")).text).toContain("hi\r\n");
});

test("spawn failures have their errno and leave no session", async () => {
  await using host = await openTestHost();
  using temp = openTempDir();
  const file = join(temp.path, "file");
  writeFileSync(file, "no program", { mode: 0o644 });
  writeFileSync(join(temp.path, "script"), "#!/no/such/interpreter\n", { mode: 0o755 });
  const cases = [
    [{ argv: ["no-such-program"] }, "ENOENT"],
    [{ argv: [file] }, "EACCES"],
    [{ argv: [join(temp.path, "script")] }, "ENOENT"],
    [{ argv: ["true"], work_dir: "/no/such/dir" }, "ENOENT"],
    [{ argv: ["true"], work_dir: file }, "ENOTDIR"],
    [{ argv: ["true"], work_dir: "relative" }, "EINVAL"],
  ] as const;
  for (const [request, errno] of cases) {
    for (const kind of ["terminal", "command"] as const) {
      await expect(host.create({ kind, ...request })).rejects.toMatchObject({
        code: "spawn_failed",
        details: { errno },
      });
    }
  }
  expect((await host.client.call("session.list", {})).sessions).toEqual([]);
});

/** A small file system of its own; undefined where mounting is not permitted. */
function mountSmall(path: string, megabytes: number): Disposable | undefined {
  mkdirSync(path, { recursive: true });
  const { status, stderr } = spawnSync(
    "mount",
    ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", path],
    { encoding: "utf8" },
  );
  if (status === 0) return { [Symbol.dispose]: () => void spawnSync("umount", ["-l", path]) };
  expect(stderr).toMatch(/permi|root|superuser|must be/i);
  return undefined;
}

test("a disk that fills: the session goes on, the lost part is a gap, health says so, room heals it", async () => {
  using temp = openTempDir();
  const dataDir = join(temp.path, "small");
  using mounted = mountSmall(dataDir, 80);
  if (mounted === undefined) return;
  await using host = await openTestHost({ dataDir });
  const { session_id } = await host.create({
    kind: "command",
    command:
      "head -c 3000000 /dev/zero | tr '\\0' a; read -r go; head -c 3000000 /dev/zero | tr '\\0' b; read -r go; echo healed",
    stdin: true,
  });
  const tailOf = async () => (await host.client.call("session.get", { session_id })).tail;
  await waitFor("the first part", async () => (await tailOf()) === 3_000_000);
  const filler = join(dataDir, "filler");
  spawnSync("sh", ["-c", `cat /dev/zero > ${filler} 2>/dev/null`]);
  const go = () =>
    host.client.call("session.input", {
      session_id,
      data_b64: Buffer.from("go\n").toString("base64"),
    });
  await go();
  await waitFor("the fault to show", async () => {
    const { log_fault } = await host.client.call("session.get", { session_id });
    return log_fault?.code === "disk_full" && log_fault.lost_bytes > 1_000_000;
  });
  expect((await host.client.call("host.health", {})).log_faults).toBe(1);
  await expect(host.create({ command: "true" })).rejects.toMatchObject({ code: "disk_full" });
  rmSync(filler);
  await waitFor("the lost range to be marked", async () => (await tailOf()) === 6_000_000);
  await go();
  const session = await ended(host, session_id);
  expect(session.state).toMatchObject({ exit_code: 0 });
  const { chunks, text } = await host.output(session_id);
  const gaps = chunks.filter((chunk) => chunk.kind === "gap");
  expect(gaps.length).toBe(1);
  // Not the text itself: a failure would print megabytes.
  expect(/^a{3000000}b*healed\n$/.test(text)).toBe(true);
  expect(session.tail).toBe(6_000_000 + "healed\n".length);
});

test("a disk that fills: an agent waits and loses no event", async () => {
  using temp = openTempDir();
  const dataDir = join(temp.path, "small");
  using mounted = mountSmall(dataDir, 100);
  if (mounted === undefined) return;
  await using host = await openTestHost({ dataDir });
  const lines = 60_000;
  const script = `read -r go; for ((i = 0; i < ${lines}; i++)); do echo "{\\"n\\":$i,\\"pad\\":\\"0123456789012345678901234567890123456789\\"}"; done`;
  const { session_id } = await host.create({ kind: "agent", argv: ["bash", "-c", script] });
  const filler = join(dataDir, "filler");
  spawnSync("sh", ["-c", `cat /dev/zero > ${filler} 2>/dev/null`]);
  await host.client.call("session.input", {
    session_id,
    data_b64: Buffer.from("go\n").toString("base64"),
  });
  await waitFor("the fault to show", async () => {
    const { log_fault } = await host.client.call("session.get", { session_id });
    return log_fault?.code === "disk_full";
  });
  expect((await host.client.call("session.get", { session_id })).state.kind).toBe("running");
  rmSync(filler);
  const session = await ended(host, session_id);
  expect(session.state).toMatchObject({ exit_code: 0 });
  using source = openLogFiles(join(host.sessions, session_id, "events"));
  const numbers: unknown[] = [];
  for await (const line of readLines(readRange(source, 0, { to: source.tail(), limit: 65_536 }))) {
    expect(line.kind).toBe("line");
    if (line.kind === "line" && "n" in line.value) numbers.push(line.value.n);
  }
  expect(numbers).toEqual(Array.from({ length: lines }, (_, at) => at));
});
