import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { migrations } from "./migrations.ts";
import { migrateAlone, openDatabase } from "./open-database.ts";
import { runSql } from "./testing/test-store.ts";

const first = "CREATE TABLE pets (name TEXT) STRICT; INSERT INTO pets VALUES ('rex')";
const second = "ALTER TABLE pets ADD COLUMN age INTEGER; UPDATE pets SET age = 3";
const broken = "CREATE TABLE toys (name TEXT) STRICT; INSERT INTO nowhere VALUES (1)";

test("the database and its side files are for their owner alone", () => {
  using dir = openTempDir();
  const path = join(dir.path, "reins.db");
  using _database = openDatabase(path);
  const modes = readdirSync(dir.path).map((name) => statSync(join(dir.path, name)).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600, 0o600]);
});

test("a file that others could read is closed to them", () => {
  using dir = openTempDir();
  const path = join(dir.path, "reins.db");
  openDatabase(path)[Symbol.dispose]();
  chmodSync(path, 0o644);
  openDatabase(path)[Symbol.dispose]();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("it writes ahead, so that readers and a writer do not wait for each other", () => {
  using dir = openTempDir();
  using database = openDatabase(join(dir.path, "reins.db"));
  expect(database.first("PRAGMA journal_mode")).toEqual({ journal_mode: "wal" });
  expect(database.number("PRAGMA synchronous")).toBe(1);
});

test("what is in the file has this version", () => {
  using dir = openTempDir();
  using database = openDatabase(join(dir.path, "reins.db"));
  expect(database.number("PRAGMA user_version")).toBe(1);
  expect(migrations).toHaveLength(1);
});

test("an older file is brought to the new version with what it holds", () => {
  using dir = openTempDir();
  const path = join(dir.path, "reins.db");
  openDatabase(path, [first])[Symbol.dispose]();
  using database = openDatabase(path, [first, second]);
  expect(database.all("SELECT * FROM pets")).toEqual([{ name: "rex", age: 3 }]);
  expect(database.number("PRAGMA user_version")).toBe(2);
});

test("a migration that fails leaves the file as it was", () => {
  using dir = openTempDir();
  const path = join(dir.path, "reins.db");
  openDatabase(path, [first])[Symbol.dispose]();
  expect(() => openDatabase(path, [first, second, broken])).toThrow(/nowhere/);
  using database = openDatabase(path, [first]);
  expect(database.all("SELECT * FROM pets")).toEqual([{ name: "rex" }]);
  expect(database.number("SELECT count(*) FROM sqlite_schema WHERE name = 'toys'")).toBe(0);
});

test("an older file is not migrated under a process that still uses it", {
  timeout: 60_000,
}, () => {
  using dir = openTempDir();
  const path = join(dir.path, "reins.db");
  using older = openDatabase(path, [first]);
  expect(() => openDatabase(path, [first, second])).toThrow(
    expect.objectContaining({
      code: "conflict",
      message: expect.stringContaining("stop the older"),
    }),
  );
  expect(older.all("SELECT * FROM pets")).toEqual([{ name: "rex" }]);
  older[Symbol.dispose]();
  using database = openDatabase(path, [first, second]);
  expect(database.number("PRAGMA user_version")).toBe(2);
});

test("a starter that finds another one done before it goes on", () => {
  using dir = openTempDir();
  const path = join(dir.path, "reins.db");
  using faster = openDatabase(path, [first, second]);
  migrateAlone(path, [first, second]);
  expect(faster.all("SELECT * FROM pets")).toEqual([{ name: "rex", age: 3 }]);
});

test("a newer file is refused and not one byte of it changes", () => {
  using dir = openTempDir();
  const path = join(dir.path, "reins.db");
  openDatabase(path, [first, second])[Symbol.dispose]();
  const before = readFileSync(path);
  expect(() => openDatabase(path, [first])).toThrow(
    expect.objectContaining({ code: "unsupported", details: { path, version: 2, known: 1 } }),
  );
  expect(readFileSync(path).equals(before)).toBe(true);
});

test("a newer version that is still in the write-ahead log is refused as well", () => {
  using dir = openTempDir();
  const path = join(dir.path, "reins.db");
  openDatabase(path, [first])[Symbol.dispose]();
  using newer = new DatabaseSync(path);
  newer.exec("PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = 7");
  const before = [readFileSync(path), readFileSync(`${path}-wal`)];
  expect(() => openDatabase(path, [first])).toThrow(
    expect.objectContaining({ code: "unsupported" }),
  );
  expect([readFileSync(path), readFileSync(`${path}-wal`)]).toEqual(before);
});

test("a newer file that its process left in the middle is refused with its write-ahead log as it was", () => {
  using dir = openTempDir();
  const [path, left] = [join(dir.path, "reins.db"), join(dir.path, "left.db")];
  using newer = openDatabase(path, [first, second]);
  newer.run("INSERT INTO pets VALUES ('tom', 1)");
  // What a killed process leaves: both files, nobody has them open.
  for (const end of ["", "-wal"]) copyFileSync(path + end, left + end);
  const before = [readFileSync(left), readFileSync(`${left}-wal`)];
  expect(() => openDatabase(left, [first])).toThrow(
    expect.objectContaining({ code: "unsupported" }),
  );
  expect([readFileSync(left), readFileSync(`${left}-wal`)]).toEqual(before);
});

test("a newer file of another journal mode keeps that mode", () => {
  using dir = openTempDir();
  const path = join(dir.path, "reins.db");
  runSql(path, "PRAGMA user_version = 9");
  const before = readFileSync(path);
  expect(() => openDatabase(path, [first])).toThrow(
    expect.objectContaining({ code: "unsupported" }),
  );
  expect(readFileSync(path).equals(before)).toBe(true);
});

test.each([
  ["short text", Buffer.from("hello")],
  ["long text", Buffer.alloc(20_000, "no database ")],
])("a file with %s in it is said to be damaged", (_what, content) => {
  using dir = openTempDir();
  const path = join(dir.path, "reins.db");
  writeFileSync(path, content);
  expect(() => openDatabase(path)).toThrow(
    expect.objectContaining({ code: "internal", message: expect.stringContaining("damaged") }),
  );
  expect(readFileSync(path).equals(content)).toBe(true);
});

test("a database whose pages were overwritten is said to be damaged", () => {
  using dir = openTempDir();
  const path = join(dir.path, "reins.db");
  openDatabase(path)[Symbol.dispose]();
  const content = readFileSync(path);
  writeFileSync(path, content.fill(0xab, 100));
  expect(() => {
    using database = openDatabase(path);
    database.all("SELECT * FROM workspaces");
  }).toThrow(expect.objectContaining({ code: "internal" }));
});

test("a missing folder and a folder in the file's place are said in a sentence", () => {
  using dir = openTempDir();
  expect(() => openDatabase(join(dir.path, "none", "reins.db"))).toThrow(/folder does not exist/);
  const path = join(dir.path, "reins.db");
  mkdirSync(path);
  expect(() => openDatabase(path)).toThrow(
    expect.objectContaining({
      code: "internal",
      message: expect.stringContaining("a folder in its place"),
    }),
  );
});

test("a transaction that throws changes nothing, and one inside another is part of it", () => {
  using dir = openTempDir();
  const path = join(dir.path, "reins.db");
  using database = openDatabase(path, [first]);
  const insert = () => database.run("INSERT INTO pets VALUES ('tom')");
  const failing = () =>
    database.transaction(() => {
      database.transaction(insert);
      throw new Error("no");
    });
  expect(failing).toThrow("no");
  expect(runSql(path, "SELECT name FROM pets")).toEqual([{ name: "rex" }]);
});
