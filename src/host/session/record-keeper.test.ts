import { mkdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLogger } from "#base/logger.ts";
import { ManualClock } from "#base/manual-clock.ts";
import { SessionId } from "#contract/ids.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { RecordKeeper } from "./record-keeper.ts";
import type { SessionRecord } from "./session-record.ts";

const RETRY_MS = 1000;

function openKeeper(dir: string) {
  const clock = new ManualClock();
  const at = new Date(clock.now()).toISOString();
  const record: SessionRecord = {
    version: 1,
    session_id: SessionId.parse("ses_0000000000000000"),
    kind: "command",
    mode: "pipe",
    argv: ["true"],
    shell: null,
    work_dir: "/",
    title: "before",
    labels: {},
    parent_session_id: null,
    detach: false,
    cols: null,
    rows: null,
    grace_ms: 0,
    idle_timeout_ms: 0,
    lifetime_ms: 0,
    created_at: at,
    last_io_at: at,
    exited_at: null,
    state: { kind: "running" },
    process: null,
    limit_mark: null,
    tail: 0,
    first_offset: 0,
    events_tail: 0,
    disk_bytes: 0,
    lost_bytes: 0,
  };
  return { clock, keeper: new RecordKeeper({ dir, log: silentLogger, clock, record }) };
}

test("a record whose last change could not be written is written as soon as it can be", () => {
  using dir = openTempDir();
  const path = join(dir.path, "session.json");
  const { clock, keeper } = openKeeper(dir.path);
  // What stands in the way of the file; a full disk fails in the same place.
  mkdirSync(path);
  keeper.update({ title: "after" });
  clock.advance(3 * RETRY_MS);
  expect(keeper.isWritten).toBe(false);
  rmdirSync(path);
  clock.advance(RETRY_MS);
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ title: "after" });
  expect(keeper.isWritten).toBe(true);
});

test("a record whose directory was removed is not tried again", () => {
  using dir = openTempDir();
  const folder = join(dir.path, "removed");
  mkdirSync(folder);
  const { clock, keeper } = openKeeper(folder);
  rmSync(folder, { recursive: true });
  keeper.update({ title: "after" });
  expect(keeper.isWritten).toBe(true);
  mkdirSync(folder);
  clock.advance(10 * RETRY_MS);
  expect(() => readFileSync(join(folder, "session.json"))).toThrow("ENOENT");
});
