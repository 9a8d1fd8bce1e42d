import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { createRegistry } from "./registry.ts";
import { parseRecord, RECORD_VERSION, type RunRecord } from "./run-record.ts";

const BOOT = "boot-1";

function describeRun(change: Partial<RunRecord> = {}): RunRecord {
  return {
    version: RECORD_VERSION,
    session_id: "ses_0123456789abcdef",
    pid: 41,
    start_time: 1000,
    kind: "command",
    started_at: "2026-01-10T00:00:00.000Z",
    work_dir: "/work",
    address: "http://127.0.0.1:7000",
    token: "reins_secret",
    server: { pid: 42, start_time: 2000, boot_id: BOOT },
    ...change,
  };
}

/** Processes that live, by what makes them who they are. */
function openTestRegistry(path: string, alive: readonly RunRecord["server"][] = [server()]) {
  return createRegistry(path, {
    isAlive: (process) => alive.some((one) => JSON.stringify(one) === JSON.stringify(process)),
  });
}

function server(change: Partial<RunRecord["server"]> = {}): RunRecord["server"] {
  return { pid: 42, start_time: 2000, boot_id: BOOT, ...change };
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

describe("the registry", () => {
  test("gives back what was written, and nothing once it is disposed, however often", () => {
    using dir = openTempDir();
    const registry = openTestRegistry(dir.path);
    expect(registry.list()).toEqual([]);
    const entry = registry.open(describeRun({ agent: "root" }));
    expect(registry.list()).toEqual([describeRun({ agent: "root" })]);
    entry.update(describeRun({ pid: null, start_time: null }));
    expect(registry.list()).toEqual([describeRun({ pid: null, start_time: null })]);
    for (const _ of [1, 2, 3]) entry[Symbol.dispose]();
    expect(registry.list()).toEqual([]);
    expect(readdirSync(join(dir.path, "runs"))).toEqual([]);
  });

  test("is private, also in a folder that was open to all", () => {
    using dir = openTempDir();
    const runs = join(dir.path, "runs");
    mkdirSync(runs);
    chmodSync(runs, 0o755);
    const registry = openTestRegistry(dir.path);
    const before = process.umask(0);
    registry.open(describeRun());
    process.umask(before);
    expect(modeOf(runs)).toBe(0o700);
    expect(readdirSync(runs).map((name) => modeOf(join(runs, name)))).toEqual([0o600]);
    chmodSync(runs, 0o755);
    expect(registry.list()).toHaveLength(1);
    expect(modeOf(runs)).toBe(0o700);
  });

  test("removes what a dead process left; a pid that was given to another is dead", () => {
    using dir = openTempDir();
    const registry = openTestRegistry(dir.path);
    const others = [
      server({ start_time: 2001 }),
      server({ boot_id: "boot-0" }),
      server({ pid: 43 }),
    ];
    for (const other of others) registry.open(describeRun({ server: other }));
    expect(readdirSync(join(dir.path, "runs"))).toHaveLength(3);
    expect(registry.list()).toEqual([]);
    expect(readdirSync(join(dir.path, "runs"))).toEqual([]);
  });

  test("removes what the dead left without touching what their successor wrote", () => {
    using dir = openTempDir();
    const dead = server({ pid: 7 });
    const registry = openTestRegistry(dir.path);
    const first = registry.open(describeRun({ server: dead, address: "http://127.0.0.1:1" }));
    registry.open(describeRun());
    expect(registry.list()).toEqual([describeRun()]);
    // It was only late.
    first[Symbol.dispose]();
    expect(registry.list()).toEqual([describeRun()]);
  });

  test("skips what is torn, foreign or newer, and leaves it where it is", () => {
    using dir = openTempDir();
    const registry = openTestRegistry(dir.path);
    registry.open(describeRun());
    const runs = join(dir.path, "runs");
    const [name = ""] = readdirSync(runs);
    const text = readFileSync(join(runs, name), "utf8");
    const place = (letter: string) =>
      join(runs, `ses_0123456789abcdef.run_${letter.repeat(16)}.json`);
    const files: Readonly<Record<string, string>> = {
      [place("a")]: "",
      [place("b")]: text.slice(0, text.length / 2),
      [place("c")]: "null",
      [place("d")]: JSON.stringify({ ...describeRun(), version: 2 }),
      [place("e")]: JSON.stringify({ ...describeRun(), session_id: "ses_zzzzzzzzzzzzzzzz" }),
      [place("f")]: `${text}${" ".repeat(65 * 1024)}`,
      [join(runs, "notes.txt")]: "mine",
      [join(runs, `${name}.1.1.tmp`)]: text,
      [join(runs, "ses_0123456789abcdef.json")]: text,
    };
    for (const [path, content] of Object.entries(files)) writeFileSync(path, content);
    mkdirSync(place("g"));
    symlinkSync(join(runs, name), place("h"));
    const before = readdirSync(runs);
    expect(registry.list()).toEqual([describeRun()]);
    expect(readdirSync(runs)).toEqual(before);
    // Nobody lives any more: what cannot be understood still stays.
    expect(openTestRegistry(dir.path, []).list()).toEqual([]);
    expect(readdirSync(runs)).toEqual(before.filter((found) => found !== name));
  });

  test("orders the newest first, and two of the same moment by their ids", () => {
    using dir = openTempDir();
    const registry = openTestRegistry(dir.path);
    const write = (letter: string, started_at: string) =>
      registry.open(describeRun({ session_id: `ses_${letter.repeat(16)}`, started_at }));
    for (const letter of ["b", "d", "a", "c"]) write(letter, "2026-01-10T00:00:00.000Z");
    write("0", "2026-01-10T00:00:00.001Z");
    write("z", "2026-01-09T23:59:59.999Z");
    const order = registry.list().map(({ session_id }) => session_id.at(-1));
    expect(order).toEqual(["0", "d", "c", "b", "a", "z"]);
  });

  test("puts no secret into a folder that is a link, and believes none that lies there", () => {
    using dir = openTempDir();
    using elsewhere = openTempDir();
    openTestRegistry(elsewhere.path).open(describeRun());
    symlinkSync(join(elsewhere.path, "runs"), join(dir.path, "runs"));
    const registry = openTestRegistry(dir.path);
    expect(registry.list()).toEqual([]);
    expect(() => registry.open(describeRun())).toThrow(/not a folder of yours/);
  });
});

test.each<[string, object]>([
  ["a pid that is none", { pid: 0 }],
  ["a pid that is a text", { pid: "41" }],
  ["a start without a pid", { pid: null }],
  ["an id of another kind", { session_id: "../../etc" }],
  ["a kind that is none", { kind: "robot" }],
  ["an address that is none", { address: "javascript:alert(1)" }],
  ["no address at all", { address: undefined }],
  ["a token that is no text", { token: 5 }],
  ["an agent that is no text", { agent: {} }],
  ["a time that is none", { started_at: "yesterday" }],
  ["a folder that is none", { work_dir: null }],
  ["no server", { server: undefined }],
  ["half a server", { server: { pid: 42 } }],
])("a record with %s is not read", (_what, change) => {
  expect(parseRecord(JSON.stringify(describeRun()))).toEqual(describeRun());
  expect(parseRecord(JSON.stringify({ ...describeRun(), ...change }))).toBeUndefined();
});
