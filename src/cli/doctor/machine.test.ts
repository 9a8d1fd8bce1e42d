import { describe, expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import { FakeSpawner } from "#proc/testing/fake-child.ts";
import { unsupportedSpawner } from "#proc/unsupported.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { checkKeys } from "./keys.ts";
import {
  checkCgroups,
  checkDisk,
  checkNode,
  checkOpenFiles,
  checkTerminalCount,
} from "./machine.ts";
import { checkTerminal } from "./terminal.ts";
import { createTestWorld } from "./test-world.ts";
import type { World } from "./world.ts";

const MIB = 1024 * 1024;

function worldWith(change: Partial<World>): World {
  return createTestWorld("/nowhere", change);
}

test("this machine has what is needed", async () => {
  const world = worldWith({});
  const found = [
    checkNode(world),
    checkDisk(world),
    checkOpenFiles(world),
    checkTerminalCount(world),
    await checkTerminal(world),
  ];
  expect(found.filter(({ status }) => status === "failed")).toEqual([]);
});

test.each([
  ["24.12.0", "ok"],
  ["25.0.0", "ok"],
  ["24.11.9", "failed"],
  ["22.20.1", "failed"],
])("Node %s is %s", (nodeVersion, status) => {
  const found = checkNode(worldWith({ nodeVersion }));
  expect(found).toMatchObject({ status, sentence: expect.stringContaining(nodeVersion) });
  expect(found.advice === null).toBe(status === "ok");
});

test.each([
  [undefined, "info"],
  [2048 * MIB, "ok"],
  [1024 * MIB - 1, "info"],
  [64 * MIB, "info"],
  [64 * MIB - 1, "failed"],
  [0, "failed"],
])("%s free bytes are %s", (free, status) => {
  expect(checkDisk(worldWith({ freeDiskBytes: () => free }))).toMatchObject({ status });
});

test("the disk is that of the nearest folder which is there", () => {
  const asked: string[] = [];
  checkDisk(worldWith({ freeDiskBytes: (path) => void asked.push(path) }));
  expect(asked).toEqual(["/"]);
});

test.each([
  ["Max open files            1024                 4096                 files", "ok"],
  ["Max open files            unlimited            unlimited            files", "ok"],
  ["Max open files            1023                 1023                 files", "failed"],
  [undefined, "info"],
])("open files: %s is %s", (line, status) => {
  const text = line === undefined ? undefined : `Max processes  1  1  processes\n${line}\n`;
  expect(checkOpenFiles(worldWith({ readKernel: () => text }))).toMatchObject({ status });
});

test.each([
  ["4096", "4080", "ok"],
  ["4096", "4081", "failed"],
  ["4096", undefined, "info"],
  [undefined, undefined, "info"],
])("%s terminals of which %s are in use are %s", (most, used, status) => {
  const files: Record<string, string | undefined> = {
    "/proc/sys/kernel/pty/max": most,
    "/proc/sys/kernel/pty/nr": used,
  };
  const found = checkTerminalCount(worldWith({ readKernel: (path) => files[path] }));
  expect(found).toMatchObject({ status });
});

test("cgroups are only noted, there or not", async () => {
  const found = async (has: boolean) =>
    await checkCgroups(worldWith({ hasCgroups: () => Promise.resolve(has) }));
  expect(await found(true)).toMatchObject({ status: "ok" });
  expect(await found(false)).toMatchObject({ status: "info" });
});

describe("the terminal", () => {
  test("fails where none can be opened, with what libc said", async () => {
    const fault = new Fault("unsupported_os", "this libc does not work", {
      details: { problem: "ENODEV: posix_openpt failed" },
    });
    const openSpawner = () => Promise.resolve(unsupportedSpawner(fault));
    expect(await checkTerminal(worldWith({ openSpawner }))).toMatchObject({
      status: "failed",
      sentence: "No terminal can be opened: this libc does not work (ENODEV: posix_openpt failed).",
      advice: expect.stringContaining("/dev/pts"),
    });
  });

  test.each([
    ["ends badly", "reins-terminal\r\n", 1],
    ["sees no terminal", "", 0],
  ])("fails when the program in it %s", async (_, said, exit_code) => {
    const fake = openFake();
    const checking = checkTerminal(worldWith({ openSpawner: () => Promise.resolve(fake) }));
    await waitFor("the program is started", () => fake.children.length > 0);
    expect(fake.specs[0]?.size).toEqual({ cols: 80, rows: 24 });
    fake.last.print(said);
    fake.last.exit({ exit_code, signal: null });
    expect(await checking).toMatchObject({ status: "failed" });
  });

  test("fails when the program in it never ends, and ends it", async () => {
    const fake = openFake();
    const openSpawner = () => Promise.resolve(fake);
    expect(await checkTerminal(worldWith({ openSpawner, patienceMs: 1 }))).toMatchObject({
      status: "failed",
      sentence: expect.stringContaining("did not end within 1 ms"),
    });
    expect(fake.last.graces).toEqual([0]);
  });
});

describe("keys", () => {
  const SECRET = "sk-never-shown-0123";

  test("are named and never shown", async () => {
    const env = { OPENAI_API_KEY: SECRET, GEMINI_API_KEY: SECRET, ANTHROPIC_API_KEY: "" };
    const found = await checkKeys(worldWith({ env }));
    expect(found).toMatchObject({
      status: "ok",
      sentence: "Keys for models are in OPENAI_API_KEY, GEMINI_API_KEY.",
    });
    expect(JSON.stringify(found)).not.toContain(SECRET);
  });

  test("are not missed where no agent runs", async () => {
    expect(await checkKeys(worldWith({ env: {} }))).toMatchObject({
      status: "info",
      advice: expect.stringContaining("ANTHROPIC_API_KEY"),
    });
  });

  test.each([`${SECRET}\n`, ` ${SECRET}`, "  "])("fail with white space: %j", async (key) => {
    const found = await checkKeys(worldWith({ env: { OPENAI_API_KEY: key } }));
    expect(found).toMatchObject({
      status: "failed",
      sentence: expect.stringContaining("OPENAI_API_KEY"),
    });
    expect(JSON.stringify(found)).not.toContain(SECRET);
  });
});

function openFake(): FakeSpawner & Disposable {
  return Object.assign(new FakeSpawner(), { [Symbol.dispose]: () => undefined });
}
