import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { loadTeam } from "#agent/team/load-team.ts";
import { systemClock } from "#base/clock.ts";
import { silentLogger } from "#base/logger.ts";
import { openDataDir } from "#host/data-dir.ts";
import { findHandOver, parseHandOver } from "#host/session/hand-over.ts";
import { recoverSessions } from "#host/sessions/recovery.ts";
import { openLogFiles } from "#log/log-files.ts";
import { openLogWriter } from "#log/log-writer.ts";
import { openMemories } from "#store/memory.ts";
import { migrations } from "#store/migrations.ts";
import { openDatabase } from "#store/open-database.ts";
import { openStore } from "#store/store.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** Everything on the disk that has a version: how it is written, how one gets another version, how it is opened. */
interface Kind {
  /** In its oldest shape that is still read. */
  readonly write: (dir: string) => void;
  readonly makeNewer: (dir: string) => void;
  /** What there is to be read in it. Throws when it is refused. */
  readonly open: (dir: string) => unknown;
  readonly kept: unknown;
}

const SESSION = "ses_aaaaaaaaaaaaaaaa";
/** As the first version wrote it: without what was added later. */
const record = {
  version: 1,
  session_id: SESSION,
  kind: "command",
  mode: "pipe",
  argv: ["true"],
  shell: null,
  work_dir: "/",
  title: "true",
  labels: {},
  parent_session_id: null,
  detach: false,
  cols: null,
  rows: null,
  grace_ms: 250,
  idle_timeout_ms: 0,
  lifetime_ms: 0,
  created_at: "2026-01-01T00:00:00.000Z",
  last_io_at: "2026-01-01T00:00:00.000Z",
  exited_at: "2026-01-01T00:00:00.000Z",
  state: { kind: "exited", exit_code: 0, signal: null, reason: "exited", tail: 0, final: true },
  process: null,
  limit_mark: null,
  tail: 0,
  first_offset: 0,
  events_tail: 0,
  disk_bytes: 0,
  lost_bytes: 0,
};
const handOver = {
  version: 1,
  process: { pid: 1, start_time: 1, boot_id: "b" },
  descriptors: [],
  back: ["/bin/reins"],
  is_returned: false,
  from_version: "0.1.0",
  at_ns: "1",
  sessions: [],
  server: { listener: 9, connections: [] },
};
const TEAM = "version: 1\nagents:\n  root: {model: scripted/echo, instruction: Lead.}\n";

function writeSession(dir: string, version: number): void {
  mkdirSync(join(dir, SESSION), { recursive: true });
  writeFileSync(join(dir, SESSION, "session.json"), JSON.stringify({ ...record, version }));
}

function raiseUserVersion(path: string): void {
  using database = new DatabaseSync(path);
  database.exec("PRAGMA user_version = 1000");
}

const kinds: Record<string, Kind> = {
  "the data directory": {
    write: (dir) => writeFileSync(join(dir, "format"), "1\n"),
    makeNewer: (dir) => writeFileSync(join(dir, "format"), "2\n"),
    open: (dir) => openDataDir(dir).path,
    kept: expect.stringMatching(/^\//),
  },
  "a session's record": {
    write: (dir) => writeSession(dir, 1),
    makeNewer: (dir) => writeSession(dir, 2),
    open: (dir) => {
      const found = recoverSessions(dir, { clock: systemClock, log: silentLogger });
      if (found.unreadable.length > 0) throw new Error(`unreadable: ${found.unreadable.join()}`);
      return found.records.map(({ session_id, title }) => ({ session_id, title }));
    },
    kept: [{ session_id: SESSION, title: "true" }],
  },
  "a log": {
    write: (dir) => {
      using writer = openLogWriter({ dir, clock: systemClock });
      writer.append(1, Buffer.from("kept"));
    },
    makeNewer: (dir) => {
      const path = join(dir, "0000000000000000.idx");
      const index = readFileSync(path);
      index.writeUInt16LE(2, 8);
      writeFileSync(path, index);
    },
    open: (dir) => {
      using files = openLogFiles(dir);
      const chunk = files.read(0, { limit: 100 });
      openLogWriter({ dir, clock: systemClock })[Symbol.dispose]();
      return chunk?.kind === "bytes" ? String(chunk.bytes) : chunk;
    },
    kept: "kept",
  },
  "the store": {
    write: (dir) => {
      const path = join(dir, "reins.db");
      openDatabase(path, migrations.slice(0, 1))[Symbol.dispose]();
      using database = new DatabaseSync(path);
      const at = "2026-01-01T00:00:00.000Z";
      const columns = "workspace_id, name, created_at";
      database.exec(
        `INSERT INTO workspaces (${columns}) VALUES ('wsp_0000000000000001', 'kept', '${at}')`,
      );
    },
    makeNewer: (dir) => raiseUserVersion(join(dir, "reins.db")),
    open: (dir) => {
      using store = openStore({ path: join(dir, "reins.db"), clock: systemClock });
      const { rows } = store.workspaces.list({ workspaces: "*", limit: 10 });
      return rows.map(({ name }) => name).filter((name) => name !== "local");
    },
    kept: ["kept"],
  },
  "what teams remember": {
    write: (dir) => {
      using memories = openMemories({ path: join(dir, "memory.db"), clock: systemClock });
      memories.of("team").add("kept");
    },
    makeNewer: (dir) => raiseUserVersion(join(dir, "memory.db")),
    open: (dir) => {
      using memories = openMemories({ path: join(dir, "memory.db"), clock: systemClock });
      return memories.of("team").list(10);
    },
    kept: [expect.objectContaining({ text: "kept" })],
  },
  "a hand-over": {
    write: (dir) => writeFileSync(join(dir, "handover.json"), JSON.stringify(handOver)),
    makeNewer: (dir) =>
      writeFileSync(join(dir, "handover.json"), JSON.stringify({ ...handOver, version: 2 })),
    open: (dir) => parseHandOver(findHandOver(dir)?.content),
    kept: handOver,
  },
  "a team": {
    write: (dir) => writeFileSync(join(dir, "team.yaml"), TEAM.replace("version: 1\n", "")),
    makeNewer: (dir) =>
      writeFileSync(join(dir, "team.yaml"), TEAM.replace("version: 1", "version: 2")),
    open: (dir) =>
      loadTeam({
        yaml: readFileSync(join(dir, "team.yaml"), "utf8"),
        name: "team.yaml",
        base_dir: dir,
      }).agents.map(({ name }) => name),
    kept: ["root"],
  },
};

describe.each(Object.entries(kinds))("%s", (_name, kind) => {
  test("of an older version opens with what is in it", () => {
    using temp = openTempDir();
    kind.write(temp.path);
    expect(kind.open(temp.path)).toEqual(kind.kept);
  });

  test("of a newer version is refused, and not one byte of it changes", () => {
    using temp = openTempDir();
    kind.write(temp.path);
    kind.makeNewer(temp.path);
    const before = readAll(temp.path);
    expect(() => kind.open(temp.path)).toThrow(/version|format|newer|unreadable/i);
    // SQLite may leave its side files, empty, beside what it has looked at.
    expect(readAll(temp.path)).toMatchObject(before);
  });
});

function readAll(dir: string): Record<string, string> {
  const names = readdirSync(dir, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => statSync(join(dir, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(dir, name), "base64")]));
}
