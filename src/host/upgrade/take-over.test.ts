import { spawnSync } from "node:child_process";
import { existsSync, mkdtempDisposableSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDataDir } from "#host/data-dir.ts";
import { openLock } from "#host/lock.ts";
import {
  findHandOver,
  type HandOver,
  parseHandOver,
  writeHandOver,
} from "#host/session/hand-over.ts";
import { identify, type ProcessIdentity } from "#proc/identity.ts";
import { openLockAndHandOver } from "./take-over.ts";

function openTestDir() {
  const temp = mkdtempDisposableSync(join(tmpdir(), "reins-over-"));
  const dir = openDataDir(temp.path);
  const file = join(dir.path, "handover.json");
  return { dir, file, [Symbol.dispose]: () => temp.remove() };
}

function createHandOver(process: ProcessIdentity): HandOver {
  return {
    version: 1,
    process,
    descriptors: [],
    back: ["/bin/reins"],
    is_returned: false,
    from_version: "1.0.0",
    at_ns: "1",
    sessions: [],
    server: { listener: 9, connections: [] },
  };
}

test("a hand-over to this very process is found, and nobody else may read it", async () => {
  using test = openTestDir();
  const handOver = createHandOver(identify(process.pid));
  writeHandOver(test.dir.path, handOver);
  expect(statSync(test.file).mode & 0o777).toBe(0o600);
  const { lock, handed } = await openLockAndHandOver(test.dir);
  using _lock = lock;
  expect(parseHandOver(handed?.content)).toEqual(handOver);
});

test("it waits for a lock that another start has for a moment", async () => {
  using test = openTestDir();
  writeHandOver(test.dir.path, createHandOver(identify(process.pid)));
  const other = openLock(test.dir.lock);
  const opening = openLockAndHandOver(test.dir);
  setImmediate(() => other[Symbol.dispose]());
  const { lock, handed } = await opening;
  using _lock = lock;
  expect(handed).toBeDefined();
});

test("who starts while another process is being upgraded lets it have the lock, and changes nothing", async () => {
  using test = openTestDir();
  writeHandOver(test.dir.path, createHandOver(identify(process.ppid)));
  const before = readFileSync(test.file);
  await expect(openLockAndHandOver(test.dir)).rejects.toMatchObject({ code: "conflict" });
  expect(readFileSync(test.file)).toEqual(before);
  openLock(test.dir.lock)[Symbol.dispose]();
});

test.each([
  ["has died", () => ({ ...identify(process.pid), pid: spawnSync("/bin/true").pid })],
  ["had this number before", () => ({ ...identify(process.pid), start_time: 1 })],
  ["was there before the machine started", () => ({ ...identify(process.pid), boot_id: "x" })],
])("what was handed over to a process that %s is removed", async (_title, createIdentity) => {
  using test = openTestDir();
  writeHandOver(test.dir.path, createHandOver(createIdentity()));
  const { lock, handed } = await openLockAndHandOver(test.dir);
  using _lock = lock;
  expect(handed).toBeUndefined();
  expect(existsSync(test.file)).toBe(false);
});

test("the head of any version is read, the rest only of a known one", () => {
  using test = openTestDir();
  const newer = { ...createHandOver(identify(process.pid)), version: 2, sessions: "other" };
  writeFileSync(test.file, JSON.stringify(newer));
  const found = findHandOver(test.dir.path);
  expect(found?.head).toMatchObject({ version: 2, back: ["/bin/reins"] });
  expect(() => parseHandOver(found?.content)).toThrow(
    expect.objectContaining({ code: "unsupported", message: expect.stringContaining("version 2") }),
  );
  writeFileSync(test.file, "no hand-over");
  expect(findHandOver(test.dir.path)).toBeUndefined();
});
