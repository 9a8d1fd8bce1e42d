import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { isErrno } from "#base/errno.ts";
import { identify, isAlive } from "#proc/identity.ts";
import { createRegistry } from "#registry/registry.ts";
import { RECORD_VERSION, type RunRecord } from "#registry/run-record.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

const WRITER = fileURLToPath(new URL("../harness/registry-writer.ts", import.meta.url));
const ROUNDS = 200;

function startWriter(dataDir: string, sessionId: string) {
  const child = spawn(process.execPath, [WRITER, dataDir, sessionId, String(ROUNDS)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const line = once(createInterface(child.stdout), "line");
  const exited = once(child, "exit");
  return {
    sessionId,
    written: line.then(([text]): { missing: number } => JSON.parse(text)),
    end: async () => {
      child.stdin.end();
      await exited;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Every file under a record's name, read as a stranger would; what is not whole JSON throws. */
function readAll(runs: string): number {
  const names = readdirSync(runs).filter((name) => name.endsWith(".json"));
  for (const name of names) {
    try {
      JSON.parse(readFileSync(join(runs, name), "utf8"));
    } catch (error) {
      if (!isErrno(error, "ENOENT")) throw error;
    }
  }
  return names.length;
}

test("several processes write and read at the same time, and each reads whole records and finds its own", async () => {
  using dir = openTempDir();
  const runs = join(dir.path, "runs");
  const registry = createRegistry(dir.path, { isAlive });
  const writers = ["a", "b", "c"].map((letter) =>
    startWriter(dir.path, `ses_${letter.repeat(16)}`),
  );
  let isWritten = false;
  const written = Promise.all(writers.map((writer) => writer.written)).finally(() => {
    isWritten = true;
  });
  await waitFor("the first record is there", () => registry.list().length > 0);
  await waitFor("all have written", () => {
    readAll(runs);
    registry.list();
    return isWritten;
  });
  expect(await written).toEqual([{ missing: 0 }, { missing: 0 }, { missing: 0 }]);
  const listed = () => registry.list().map(({ session_id }) => session_id);
  expect(listed().toSorted()).toEqual(writers.map(({ sessionId }) => sessionId));
  const [first, second, third] = writers;
  await first?.kill();
  expect(readAll(runs)).toBe(3);
  expect(listed().toSorted()).toEqual([second?.sessionId, third?.sessionId]);
  // What the killed one left is gone from the disk, not only from the list.
  expect(readAll(runs)).toBe(2);
  await Promise.all([second?.end(), third?.end()]);
  expect(readdirSync(runs)).toEqual([]);
});

test("a record with a live pid is ignored if the process started at another time, is pid 1, or belongs to another boot", () => {
  using dir = openTempDir();
  const registry = createRegistry(dir.path, { isAlive });
  const own = identify(process.pid);
  const write = (server: RunRecord["server"]) =>
    registry.open({
      ...{ version: RECORD_VERSION, session_id: "ses_aaaaaaaaaaaaaaaa", kind: "terminal" },
      ...{ pid: null, start_time: null, started_at: new Date().toISOString(), work_dir: "/" },
      ...{ address: "http://127.0.0.1:1", server },
    });
  write({ ...own, start_time: own.start_time + 1 });
  write({ ...own, boot_id: "another" });
  write({ ...own, pid: 1 });
  expect(registry.list()).toEqual([]);
  expect(readdirSync(join(dir.path, "runs"))).toEqual([]);
  using _entry = write(own);
  expect(registry.list()).toHaveLength(1);
});
