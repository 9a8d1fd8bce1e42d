import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type RunOptions, type RunResult, runProgram } from "#test/harness/run-program.ts";
import { openTempDir, type TempDir } from "#test/harness/temp-dir.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Loaded first, it makes this Node say that it is an old one. */
const PRETEND_OLD = `data:text/javascript,${encodeURIComponent(
  'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.0" } })',
)}`;

const PROGRAM = `
export async function main(argv: readonly string[]): Promise<number> {
  const { pid, execPath } = process;
  process.stdout.write(JSON.stringify({ argv, pid, node: execPath, self: process.argv[1] }) + "\\n");
  if (argv[0] === "stay") {
    process.stderr.write("ready");
    await new Promise((resolve) => setTimeout(resolve, 30_000));
  }
  return Number(argv[1] ?? 0);
}
`;

test("the checkout's own Node runs the program, whatever Node the PATH has", async () => {
  using door = openDoor({ pinned: true });
  const result = await run(door, ["exit", "7", "two words", ""], { path: oldNodePath(door) });
  expect(result).toMatchObject({ code: 7, stderr: "" });
  expect(JSON.parse(result.stdout)).toMatchObject({
    argv: ["exit", "7", "two words", ""],
    node: realpathSync(join(root, "node_modules/node/bin/node")),
    self: join(door.path, "bin/reins"),
  });
});

test("without one the Node of the PATH runs it", async () => {
  using door = openDoor();
  const result = await run(door, ["exit", "7"]);
  expect(result).toMatchObject({ code: 7, stderr: "" });
  expect(JSON.parse(result.stdout)).toMatchObject({ node: process.execPath });
});

test("a Node that is installed beside the package goes before that of the PATH", async () => {
  using dir = openTempDir();
  const modules = join(dir.path, "node_modules");
  fillDoor(join(modules, "reins"));
  symlinkSync(join(root, "node_modules/node"), join(modules, "node"));
  // Node strips no types below node_modules.
  rmSync(join(modules, "reins/src"), { recursive: true });
  const bundle = PROGRAM.replaceAll(/: (readonly string\[\]|Promise<number>)/g, "");
  writeFileSync(join(modules, "reins/dist/main.js"), bundle);
  const bin = join(modules, "reins/bin/reins");
  const result = await runProgram([bin, "exit", "7"], { env: { PATH: oldNodePath(dir) } });
  expect(result).toMatchObject({ code: 7, stderr: "" });
});

test.each(["SIGKILL", "SIGTERM"] as const)(
  "%s to the process that was started ends the program, because they are one",
  async (signal) => {
    using door = openDoor({ pinned: true });
    let started: number | undefined;
    const result = await run(door, ["stay"], {
      onStderr: (child) => {
        started = child.pid;
        child.kill(signal);
      },
    });
    expect(result).toMatchObject({ code: null, signal });
    expect(JSON.parse(result.stdout).pid).toBe(started);
  },
);

test("links to it may be relative, in a chain, and go through linked directories", async () => {
  using door = openDoor({ pinned: true });
  const at = (path: string) => join(door.path, path);
  for (const folder of ["a", "b/c", "far away"]) mkdirSync(at(folder), { recursive: true });
  symlinkSync("../bin/reins", at("a/reins"));
  symlinkSync("../../a/reins", at("b/c/chained"));
  symlinkSync(at("b/c/chained"), at("far away/absolute"));
  symlinkSync("../..", at("b/c/checkout"));
  symlinkSync("../b/c/checkout/bin/reins", at("far away/by directory"));
  for (const link of ["a/reins", "b/c/chained", "far away/absolute", "far away/by directory"]) {
    const result = await runProgram([at(link), "exit", "7"], { cwd: "/", env: process.env });
    expect([link, result]).toEqual([link, expect.objectContaining({ code: 7, stderr: "" })]);
    expect(JSON.parse(result.stdout).self).toBe(at("bin/reins"));
  }
  const relative = await runProgram(["far away/absolute", "exit", "7"], { cwd: door.path });
  expect(relative.code).toBe(7);
});

test.each(["bin/reins", "bin/reins.mjs"])(
  "node %s works too, and starts bin/reins again",
  async (file) => {
    using door = openDoor();
    const result = await runProgram([process.execPath, join(door.path, file), "exit", "7"]);
    expect(result).toMatchObject({ code: 7, stderr: "" });
    expect(JSON.parse(result.stdout).self).toBe(join(door.path, "bin/reins"));
  },
);

test("a Node that is too old is named, with what is needed", async () => {
  using door = openDoor();
  const result = await run(door, ["exit", "7"], { path: oldNodePath(door) });
  expect(result).toMatchObject({ code: 1, stdout: "" });
  expect(result.stderr).toMatch(
    /^reins needs Node 24\.12 or newer; \/\S+ is v\S+\. Install one .*npm install -g node@24\n$/,
  );
});

test("without any Node it says what is needed", async () => {
  using door = openDoor();
  const tools = join(door.path, "tools");
  mkdirSync(tools);
  const result = await run(door, ["exit", "7"], { path: tools });
  expect(result).toMatchObject({ code: 1, stdout: "" });
  expect(result.stderr).toMatch(/^reins needs Node 24\.12 or newer, and there is no node in/);
});

test("an older Node that is given the file says how to start it", async () => {
  using door = openDoor();
  mkdirSync(join(door.path, "node_modules/node/bin"), { recursive: true });
  cpSync("/bin/true", join(door.path, "node_modules/node/bin/node"));
  for (const file of ["bin/reins", "bin/reins.mjs"]) {
    const argv = [process.execPath, "--import", PRETEND_OLD, join(door.path, file)];
    const result = await runProgram(argv);
    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toContain(`Run ${join(door.path, "bin/reins")} without node`);
  }
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

/** A checkout with a program of a few lines behind the real bin/reins. */
function openDoor({ pinned = false }: { readonly pinned?: boolean } = {}): TempDir {
  const door = openTempDir();
  fillDoor(door.path);
  if (pinned)
    symlinkSync(join(root, "node_modules", "node"), join(door.path, "node_modules", "node"));
  return door;
}

function fillDoor(path: string): void {
  for (const folder of ["src/cli", "dist", "node_modules"])
    mkdirSync(join(path, folder), { recursive: true });
  cpSync(join(root, "bin"), join(path, "bin"), { recursive: true });
  writeFileSync(join(path, "package.json"), '{ "type": "module" }');
  writeFileSync(join(path, "src", "cli", "main.ts"), PROGRAM);
}

/** A PATH whose `node` says that it is an old one. */
function oldNodePath(dir: TempDir): string {
  const folder = join(dir.path, "old");
  mkdirSync(folder);
  const script = `#!/bin/sh\nexec '${process.execPath}' --import '${PRETEND_OLD}' "$@"\n`;
  writeFileSync(join(folder, "node"), script, { mode: 0o755 });
  return `${folder}${delimiter}/usr/bin${delimiter}/bin`;
}

interface DoorRun extends RunOptions {
  /** Where the launcher looks for `node`; this Node by default. */
  readonly path?: string;
}

function run(door: TempDir, args: readonly string[], options: DoorRun = {}): Promise<RunResult> {
  const PATH = options.path ?? `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;
  const env: NodeJS.ProcessEnv = { ...process.env, ...options.env, PATH };
  delete env.NODE_COMPILE_CACHE;
  return runProgram([join(door.path, "bin", "reins"), ...args], { ...options, env });
}
