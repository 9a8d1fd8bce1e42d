import { chmodSync, cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { findOlderNode } from "#test/harness/older-node.ts";
import { type RunOptions, type RunResult, runProgram } from "#test/harness/run-program.ts";
import { openTempDir, type TempDir } from "#test/harness/temp-dir.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Loaded first, it makes this Node say that it is an old one. */
const PRETEND_OLD = `data:text/javascript,${encodeURIComponent(
  'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.0" } })',
)}`;
const asOldNode = [process.execPath, "--import", PRETEND_OLD];
const olderNode = findOlderNode();

const PROGRAM = `
export async function main(argv: readonly string[]): Promise<number> {
  const again: string | undefined = process.env["REINS_STARTED_AGAIN"];
  process.stdout.write(JSON.stringify({ node: process.versions.node, argv, again }) + "\\n");
  if (argv[0] === "die") process.kill(process.pid, argv[1]);
  if (argv[0] === "stay") {
    process.on("SIGUSR2", () => process.exit(42));
    process.stderr.write("ready");
    await new Promise((resolve) => setTimeout(resolve, 30_000));
  }
  return Number(argv[1] ?? 0);
}
`;

test("a new enough Node runs the program itself and passes its exit code on", async () => {
  using door = openDoor();
  const result = await run(door, ["exit", "7"]);
  expect(result.code).toBe(7);
  expect(JSON.parse(result.stdout)).toEqual({
    node: process.versions.node,
    argv: ["exit", "7"],
  });
});

test("an older Node starts the pinned one in its place", async () => {
  using door = openDoor({ pinned: true });
  const result = await run(door, ["exit", "7"], { node: asOldNode });
  expect(result).toMatchObject({ code: 7, stderr: "" });
  expect(JSON.parse(result.stdout)).toEqual({
    node: process.versions.node,
    argv: ["exit", "7"],
  });
});

test("death by a signal is passed on as that signal", async () => {
  using door = openDoor({ pinned: true });
  const result = await run(door, ["die", "SIGTERM"], { node: asOldNode });
  expect(result).toMatchObject({ code: null, signal: "SIGTERM" });
});

test("a signal reaches the program behind an older Node", async () => {
  using door = openDoor({ pinned: true });
  const result = await run(door, ["stay"], {
    node: asOldNode,
    onStderr: (child) => child.kill("SIGUSR2"),
  });
  expect(result).toMatchObject({ code: 42, signal: null });
});

test("an older Node without a pinned one says what is needed", async () => {
  using door = openDoor();
  const result = await run(door, ["exit", "7"], { node: asOldNode });
  expect(result).toMatchObject({ code: 1, stdout: "" });
  expect(result.stderr).toMatch(/^reins needs Node 24\.12 or newer; this is v\S+\n$/);
});

test("a pinned Node that is itself too old is not started for ever", async () => {
  using door = openDoor({ pinned: true });
  const env = { REINS_STARTED_AGAIN: "1" };
  const result = await run(door, ["exit", "7"], { node: asOldNode, env });
  expect(result).toMatchObject({ code: 1, stdout: "" });
});

test.skipIf(olderNode === undefined)("a really older Node does the same", async () => {
  using door = openDoor({ pinned: true });
  const result = await run(door, ["exit", "7"], { node: [olderNode ?? ""] });
  expect(result).toMatchObject({ code: 7, stderr: "" });
  expect(JSON.parse(result.stdout)).toMatchObject({ node: process.versions.node });
});

test("the compile cache lies in the user's own cache directory", async () => {
  using door = openDoor();
  const cache = join(door.path, "cache");
  const env = { XDG_CACHE_HOME: cache };
  await run(door, ["exit"], { env });
  expect(readdirSync(join(cache, "reins"))).toHaveLength(1);
});

test("a cache directory that others can write to is not used", async () => {
  using door = openDoor();
  const cache = join(door.path, "cache");
  mkdirSync(join(cache, "reins"), { recursive: true });
  chmodSync(join(cache, "reins"), 0o777);
  const env = { XDG_CACHE_HOME: cache };
  await run(door, ["exit"], { env });
  expect(readdirSync(join(cache, "reins"))).toEqual([]);
});

/** A checkout with a program of three lines behind the real bin/reins. */
function openDoor({ pinned = false }: { readonly pinned?: boolean } = {}): TempDir {
  const door = openTempDir();
  for (const folder of ["bin", "src/cli", "node_modules"]) {
    mkdirSync(join(door.path, folder), { recursive: true });
  }
  cpSync(join(root, "bin", "reins"), join(door.path, "bin", "reins"));
  writeFileSync(join(door.path, "package.json"), '{ "type": "module" }');
  writeFileSync(join(door.path, "src", "cli", "main.ts"), PROGRAM);
  if (pinned)
    symlinkSync(join(root, "node_modules", "node"), join(door.path, "node_modules", "node"));
  return door;
}

interface DoorRun extends RunOptions {
  /** What runs bin/reins; this Node by default. */
  readonly node?: readonly string[];
}

function run(door: TempDir, args: readonly string[], options: DoorRun = {}): Promise<RunResult> {
  const env: NodeJS.ProcessEnv = { ...process.env, ...options.env };
  delete env.NODE_COMPILE_CACHE;
  const node = options.node ?? [process.execPath];
  return runProgram([...node, join(door.path, "bin", "reins"), ...args], { ...options, env });
}
