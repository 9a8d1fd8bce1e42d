import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDataDir } from "#host/data-dir.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { findHost, openHost } from "./start-host.ts";

/** In a process of its own, which holds every descriptor but a few. */
const PROGRAM = `
  import { closeSync, openSync } from "node:fs";
  import { openHost } from "#host/socket/start-host.ts";
  const options = { dataDir: process.argv[1], command: ["false"], env: {} };
  // Everything is loaded, and the data directory made.
  await openHost(options).catch(() => undefined);
  const held = [];
  try { for (;;) held.push(openSync("/dev/null")); } catch {}
  const said = new Set();
  for (let free = 0; free < 5; free += 1) {
    said.add(await openHost(options).then(() => "a host", ({ code }) => code));
    closeSync(held.pop());
  }
  process.stdout.write(JSON.stringify([...said]));
`;

test("who has too few descriptors to start a host is told so, however few, and goes on", () => {
  using dir = openTempDir();
  const node = [process.execPath, "--input-type=module-typescript", "-e", PROGRAM, dir.path];
  const { stdout, stderr } = spawnSync("prlimit", ["--nofile=64", ...node], { encoding: "utf8" });
  expect([stdout, stderr]).toEqual(['["overloaded"]', ""]);
});

test("a program that does not answer as a host does is refused in a sentence", async () => {
  using dir = openTempDir();
  const start = (command: readonly string[]) => openHost({ dataDir: dir.path, command, env: {} });
  await expect(start(["echo", "welcome to"])).rejects.toMatchObject({
    code: "host_unavailable",
    message: expect.stringContaining("it does not speak as a host does; see "),
  });
  await expect(start(["true"])).rejects.toMatchObject({
    code: "host_unavailable",
    message: expect.stringContaining("it ended before it was ready; see "),
  });
});

test("a host that hangs up without a word is ending, and is looked for until it has gone", async () => {
  using dir = openTempDir();
  const socket = join(dir.path, "host.sock");
  const ending = createServer((client) => {
    client.destroy();
    ending.close();
  });
  await new Promise<void>((resolve) => {
    ending.listen(socket, resolve);
  });
  expect(await findHost(openDataDir(dir.path))).toBeUndefined();
});

/** Finds the lock held the first time, by somebody who was just ending; then it is a host. */
const SECOND_TIME = `
  import { existsSync, writeFileSync } from "node:fs";
  import { createServer } from "node:net";
  import { encodeJson } from "#host/socket/frames.ts";
  const dir = process.argv.at(-1);
  const say = (line) => process.stdout.write(JSON.stringify(line) + "\\n");
  if (existsSync(dir + "/tried")) {
    const hello = { type: "hello", protocol: 1, features: [], pid: process.pid, version: "second" };
    const server = createServer((socket) => {
      socket.write(encodeJson(hello));
      socket.on("close", () => server.close());
    });
    server.listen(dir + "/host.sock", () => say({ ready: true, pid: process.pid }));
  } else {
    writeFileSync(dir + "/tried", "");
    say({ error: { code: "conflict", message: "another host already serves this data directory" } });
  }
`;

test("a host is started again when the one that held the lock has gone without a word", async () => {
  using dir = openTempDir();
  const node = [process.execPath, "--input-type=module-typescript", "-e", SECOND_TIME, "--"];
  // A host works in the root directory, where its imports would not be found.
  const command = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', process.cwd(), ...node];
  using host = await openHost({ dataDir: dir.path, command, env: {} });
  expect(host.hello.version).toBe("second");
});

test("a log that cannot be opened is a fault about the data directory", async () => {
  using dir = openTempDir();
  mkdirSync(join(dir.path, "host.log"));
  const opening = openHost({ dataDir: dir.path, command: ["false"], env: {} });
  await expect(opening).rejects.toMatchObject({
    code: "host_unavailable",
    message: expect.stringContaining(`cannot use ${dir.path} as the data directory`),
    details: { errno: "EISDIR" },
  });
});
