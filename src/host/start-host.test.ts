import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { openHost } from "./start-host.ts";

/** In a process of its own, which holds every descriptor but a few. */
const PROGRAM = `
  import { closeSync, openSync } from "node:fs";
  import { openHost } from "#host/start-host.ts";
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
