import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { randomId } from "#base/random-id.ts";
import { openSmallDisk } from "#log/testing/small-disk.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { openTestHost, type TestHost } from "#test/harness/host.ts";
import { createNap, openTestTools, type TestTools } from "#test/harness/process-tools.ts";
import { countDescriptors, findProcesses } from "#test/harness/processes.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** When the system has not what a command needs: a word that says what, and nothing half done. */

const MIB = 1024 * 1024;

/** Nothing of what failed is listed or on disk. */
async function expectNothingMade(host: TestHost, tools: TestTools, count: number): Promise<void> {
  expect((await tools.call("process_list", {})).processes).toHaveLength(count);
  expect(readdirSync(host.sessions)).toHaveLength(count);
}

test("where there is no shell nothing starts, and that is said", async () => {
  // What both names of it lead to is a file that cannot be run, for the host and its children alone.
  const hide = 'mount --bind /dev/null "$(readlink -f /bin/sh)" && exec "$@"';
  const through = ["unshare", "-m", "/bin/sh", "-c", hide, "sh"];
  if (spawnSync(through[0] ?? "", [...through.slice(1), "true"]).status !== 0) return;
  await using host = await openTestHost({ through });
  using tools = openTestTools(host);
  for (const more of [{}, { tty: true }, { run_in_background: true }])
    await expect(
      tools.execute("echo ok", { ...more, env: { PATH: "/nowhere" } }),
    ).rejects.toMatchObject({
      code: "spawn_failed",
      message: "there is no shell: neither bash nor sh is in PATH",
      details: { errno: "ENOENT" },
    });
  await expectNothingMade(host, tools, 0);
});

test("a host that is out of descriptors says so at every step, keeps none and works again", async () => {
  await using host = await openTestHost();
  using tools = openTestTools(host);
  const nap = createNap();
  const kept = await tools.execute(`echo kept; exec ${nap}`, { run_in_background: true });
  const process_id = kept.background_process_id;
  await tools.call("process_output", { process_id, wait_for: "output" });
  const [soft = ""] = readLimit(host.pid);
  const open = new Set(readdirSync(`/proc/${host.pid}/fd`).map(Number));
  const before = countDescriptors(host.pid);
  let free = 0;
  while (open.has(free)) free += 1;
  let refused = 0;
  let made = 1;
  // The first descriptor that is refused is moved on, one by one, over all that a start opens.
  for (let most = free; made < 5; most += 1) {
    for (const tty of [false, true]) {
      setLimit(host.pid, String(most));
      const said = await tools.execute("echo ok", { tty }).catch((error: unknown) => error);
      setLimit(host.pid, soft);
      if (said instanceof Error) {
        expect(said).toMatchObject({
          code: "overloaded",
          message: expect.stringContaining("no file descriptors"),
          details: { errno: "EMFILE" },
        });
        refused += 1;
        continue;
      }
      // What did start has lost nothing.
      expect(said).toMatchObject({ exit_code: 0, output: expect.stringMatching(/^ok\r?\n$/) });
      made += 1;
    }
    await expectNothingMade(host, tools, made);
  }
  expect(refused).toBeGreaterThan(8);
  await waitFor("descriptors to be given back", () => countDescriptors(host.pid) === before);
  expect((await host.client.call("host.health", {})).errors).toBe(0);
  expect(await tools.call("process_output", { process_id })).toMatchObject({
    running: true,
    output: "kept\n",
  });
});

test("a command that is out of descriptors itself ends as it likes", async () => {
  await using host = await openTestHost();
  using tools = openTestTools(host, { caller: { open_files: 16 } });
  const done = await tools.execute(
    "ulimit -Sn; set -o pipefail; python3 -c 'import os\nwhile True: os.dup(0)' 2>&1 | tail -1",
  );
  expect(done).toMatchObject({ success: false, running: false, exit_code: 1 });
  expect(done.output).toMatch(/^16\nOSError: .*Too many open files\n$/);
});

test("on a full disk nothing starts, and with room again all does", async () => {
  using disk = openSmallDisk(80 * MIB);
  if (disk.refused !== undefined) {
    expect(disk.refused).toMatch(/permi|root|superuser|ENOENT/i);
    return;
  }
  await using host = await openTestHost({ dataDir: join(disk.path, "home") });
  using tools = openTestTools(host);
  const idempotency_key = "the same";
  const filler = join(disk.path, "filler");
  spawnSync("sh", ["-c", `cat /dev/zero > ${filler} 2>/dev/null`]);
  for (const more of [{}, { tty: true }, { run_in_background: true }, { idempotency_key }])
    await expect(tools.execute("echo ok", more)).rejects.toMatchObject({ code: "disk_full" });
  await expectNothingMade(host, tools, 0);
  rmSync(filler);
  expect(await tools.execute("echo ok", { idempotency_key })).toMatchObject({ output: "ok\n" });
  await expectNothingMade(host, tools, 1);
});

test("a command that the kernel kills for its memory is a death by SIGKILL, with what it printed", async () => {
  await using host = await openTestHost();
  using tools = openTestTools(host);
  using cage = openMemoryCage(48 * MIB);
  // Where no group can be limited the same signal comes from the command itself.
  const grow =
    "import sys\nprint('growing', flush=True)\nall = [bytearray(2**20) for _ in range(256)]";
  const line =
    cage === undefined
      ? "echo growing; exec sh -c 'kill -KILL $$'"
      : `echo 0 > ${cage.procs} && exec python3 -c "${grow}"`;
  const died = { success: false, running: false, exit_code: 137, signal: "SIGKILL" };
  expect(await tools.execute(line)).toMatchObject({ ...died, output: "growing\n" });
  // A shell that lost its child so says it by its own code.
  const inner = await tools.execute(`(${line}); echo "code $?"`);
  expect(inner).toMatchObject({ success: true, exit_code: 0 });
  expect(inner.output).toMatch(/^growing\n.*code 137\n$/s);
  expect(inner).not.toHaveProperty("signal");
  if (cage !== undefined) expect(cage.countKills()).toBe(2);
});

test("the real end is known after kill -9 of the gateway, whatever took the place of the shell", async () => {
  await using host = await openTestHost();
  using dir = openTempDir();
  const go = join(dir.path, "go");
  const held = `until [ -e ${go} ]; do sleep 0.02; done`;
  const cases = [
    [`echo a; exec sh -c '${held}; echo b; exit 9'`, { exit_code: 9, output: "a\nb\n" }],
    [`echo a; ${held}; kill -KILL $$`, { exit_code: 137, signal: "SIGKILL", output: "a\n" }],
    [`trap 'echo t; exit 8' EXIT; echo a; ${held}`, { exit_code: 8, output: "a\nt\n" }],
  ] as const;
  await using first = await openGatewayProcess({ dataDir: host.dataDir });
  const ids = [];
  for (const [command] of cases) {
    const request = { command, workdir: "/", run_in_background: true };
    const { background_process_id } = await first.door.get("process.execute", request);
    if (background_process_id === undefined) throw new Error(`no id for ${command}`);
    const process_id = background_process_id;
    await first.door.get("process.output", { process_id, wait_for: "output" });
    ids.push(process_id);
  }
  await first.kill("SIGKILL");
  // They end while nobody serves.
  writeFileSync(go, "");
  for (const id of ids)
    await waitFor("their ends", async () => {
      const { state } = await host.client.call("session.get", { session_id: id });
      return state.kind === "exited";
    });
  await using second = await openGatewayProcess({ dataDir: host.dataDir });
  for (const [index, [, end]] of cases.entries()) {
    const process_id = ids[index];
    if (process_id === undefined) throw new Error("one id each");
    const read = await second.door.get("process.wait", { process_id });
    expect(read).toMatchObject({ ...end, running: false, success: false });
  }
});

test("a host that is told to stop leaves no descendant, whatever it ignores or left", async () => {
  const nap = createNap();
  await using host = await openTestHost();
  using tools = openTestTools(host);
  const started = await tools.execute(
    `trap '' TERM HUP; setsid -f ${nap}; (setsid env -i ${nap} &) ; ${nap} & echo up; ${nap}`,
    { run_in_background: true },
  );
  const process_id = started.background_process_id ?? "";
  await tools.call("process_output", { process_id, wait_for: "output" });
  await waitFor("all four", () => findProcesses(nap).filter(isNap).length === 4);
  expect(findMarked(process_id).length).toBeGreaterThan(0);
  await host.kill("SIGTERM");
  expect([findProcesses(nap), findMarked(process_id)]).toEqual([[], []]);

  function isNap(pid: number): boolean {
    return readProc(pid, "cmdline").replaceAll("\0", " ").trim() === nap;
  }
});

/** Processes that carry the mark of the session in their environment. */
function findMarked(id: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => readProc(pid, "environ").split("\0").includes(`REINS_SESSION_ID=${id}`));
}

function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    // It ended while we looked, or is not ours to look at.
    return "";
  }
}

function readLimit(pid: number): string[] {
  return /^Max open files +(\d+)/m.exec(readProc(pid, "limits"))?.slice(1) ?? [];
}

/** The soft limit of open files of another process. */
function setLimit(pid: number, soft: string): void {
  const { status, stderr } = spawnSync("prlimit", ["--pid", String(pid), `--nofile=${soft}:`]);
  if (status !== 0) throw new Error(`the limit cannot be set: ${stderr}`);
}

interface MemoryCage extends Disposable {
  /** Whoever writes its pid there is in. */
  readonly procs: string;
  countKills(): number;
}

/** A group of processes that may have so much memory together; undefined where none can be made. */
function openMemoryCage(bytes: number): MemoryCage | undefined {
  const size = String(bytes);
  const kinds = [
    {
      root: "/sys/fs/cgroup/memory",
      limits: { "memory.limit_in_bytes": size },
      // Absent where the kernel does not count what is swapped.
      swap: { "memory.memsw.limit_in_bytes": size },
      kills: "memory.oom_control",
    },
    {
      root: "/sys/fs/cgroup",
      limits: { "memory.max": size },
      swap: { "memory.swap.max": "0" },
      kills: "memory.events",
    },
  ];
  for (const { root, limits, swap, kills } of kinds) {
    const folder = join(root, randomId("reins-test"));
    if (!makeLimited(folder, limits)) continue;
    writeAll(folder, swap);
    return {
      procs: join(folder, "cgroup.procs"),
      countKills: () =>
        Number(/^oom_kill (\d+)/m.exec(readFileSync(join(folder, kills), "latin1"))?.[1]),
      [Symbol.dispose]: () => rmdirSync(folder),
    };
  }
  return undefined;
}

function makeLimited(folder: string, values: Readonly<Record<string, string>>): boolean {
  try {
    mkdirSync(folder);
  } catch {
    // Not this kind of system, or not ours to say.
    return false;
  }
  if (writeAll(folder, values)) return true;
  rmdirSync(folder);
  return false;
}

function writeAll(folder: string, values: Readonly<Record<string, string>>): boolean {
  try {
    for (const [name, value] of Object.entries(values))
      writeFileSync(join(folder, name), value, { flag: "r+" });
    return true;
  } catch {
    // A group without control of memory has no such file.
    return false;
  }
}
