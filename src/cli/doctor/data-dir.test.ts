import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openDataDir } from "#host/data-dir.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { checkDataDir, checkSocket, checkToken } from "./data-dir.ts";
import { createTestWorld } from "./test-world.ts";
import type { World } from "./world.ts";

describe("the data directory", () => {
  test("is fine when it is private and ours, also behind a link", () => {
    using temp = openTempDir();
    const home = join(temp.path, "home");
    openDataDir(home);
    expect(checkDataDir(createTestWorld(home))).toMatchObject({ status: "ok", advice: null });
    symlinkSync(home, join(temp.path, "link"));
    expect(checkDataDir(createTestWorld(join(temp.path, "link")))).toMatchObject({ status: "ok" });
  });

  test("is only a note while it is not there, and is not made by looking", () => {
    using temp = openTempDir();
    const world = createTestWorld(join(temp.path, "a", "b"));
    expect(checkDataDir(world)).toMatchObject({ status: "info" });
    expect(checkDataDir(world)).toMatchObject({ status: "info" });
  });

  type Spoil = (home: string) => Partial<World> | undefined;
  const wrong: [string, Spoil, { sentence: string; advice: string }][] = [
    [
      "has a file in its place",
      (home) => replaceByFile(home),
      { sentence: "is a file", advice: "REINS_HOME" },
    ],
    [
      "belongs to somebody else",
      () => ({ uid: 54_321 }),
      { sentence: "you are user 54321", advice: "chown" },
    ],
    [
      "may not be written to",
      () => ({ isWritable: () => false }),
      { sentence: "may not be written", advice: "REINS_HOME" },
    ],
    [
      "is open to others",
      (home) => open(home),
      { sentence: "can be entered by other users", advice: "chmod 700 " },
    ],
    [
      "has open sessions",
      (home) => open(join(home, "sessions")),
      { sentence: "sessions can be entered", advice: "chmod 700 " },
    ],
    [
      "is of a newer version",
      (home) => write(home, "format", "7\n"),
      { sentence: "format 7", advice: "newer Reins" },
    ],
  ];
  test.each(wrong)("fails when it %s", (_, spoil, { sentence, advice }) => {
    using temp = openTempDir();
    const home = join(temp.path, "home");
    openDataDir(home);
    const found = checkDataDir(createTestWorld(home, spoil(home) ?? {}));
    expect(found.status).toBe("failed");
    expect(found.sentence).toContain(sentence);
    expect(found.advice).toContain(advice);
  });

  test("fails when what is above it may not be written to", () => {
    using temp = openTempDir();
    const world = createTestWorld(join(temp.path, "home"), { isWritable: () => false });
    expect(checkDataDir(world)).toMatchObject({
      status: "failed",
      sentence: `${temp.path} may not be written to.`,
    });
  });

  test("is quoted where somebody may copy it", () => {
    using temp = openTempDir();
    const home = join(temp.path, "it's; here");
    openDataDir(home);
    chmodSync(home, 0o755);
    const advice = `chmod 700 '${temp.path}/it'\\''s; here'`;
    expect(checkDataDir(createTestWorld(home))).toMatchObject({ advice });
  });
});

describe("the socket", () => {
  test("is fine in the data directory", () => {
    expect(checkSocket(createTestWorld("/nowhere"))).toMatchObject({ status: "ok" });
  });

  test("is a note when the path is too long for it", () => {
    using temp = openTempDir();
    const world = createTestWorld(join(temp.path, "x".repeat(120)));
    const dir = { ...world.dir, socket: join(temp.path, "short", "x.sock") };
    expect(checkSocket({ ...world, dir })).toMatchObject({
      status: "info",
      sentence: expect.stringContaining("too long for a socket"),
    });
    expect(Buffer.byteLength(world.dir.socket)).toBeLessThan(104);
  });

  test("fails when the folder for short paths is not private", () => {
    using temp = openTempDir();
    const folder = join(temp.path, "short");
    mkdirSync(folder, { mode: 0o755 });
    const world = createTestWorld(join(temp.path, "x".repeat(120)));
    const dir = { ...world.dir, socket: join(folder, "x.sock") };
    expect(checkSocket({ ...world, dir })).toMatchObject({
      status: "failed",
      advice: expect.stringContaining("REINS_HOME"),
    });
  });

  test("fails when something else is in its place", () => {
    using temp = openTempDir();
    writeFileSync(join(temp.path, "host.sock"), "");
    expect(checkSocket(createTestWorld(temp.path))).toMatchObject({
      status: "failed",
      advice: `rm ${temp.path}/host.sock`,
    });
  });

  test("fails when others may connect to it", async () => {
    using temp = openTempDir();
    const path = join(temp.path, "host.sock");
    await using server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    chmodSync(path, 0o666);
    expect(checkSocket(createTestWorld(temp.path))).toMatchObject({
      status: "failed",
      advice: `chmod 600 ${path}`,
    });
    chmodSync(path, 0o600);
    expect(checkSocket(createTestWorld(temp.path))).toMatchObject({ status: "ok" });
  });
});

describe("the token", () => {
  test("is a note while it is not there, and fine when it is private", () => {
    using temp = openTempDir();
    const world = createTestWorld(temp.path);
    expect(checkToken(world)).toMatchObject({ status: "info" });
    writeFileSync(join(temp.path, "token"), "secret", { mode: 0o600 });
    expect(checkToken(world)).toMatchObject({ status: "ok" });
  });

  const wrong: [string, (path: string) => Partial<World> | undefined][] = [
    ["can be read by others", (path) => void chmodSync(path, 0o640)],
    ["belongs to somebody else", () => ({ uid: 54_321 })],
  ];
  test.each(wrong)("fails when it %s", (_, spoil) => {
    using temp = openTempDir();
    const path = join(temp.path, "token");
    writeFileSync(path, "secret", { mode: 0o600 });
    const found = checkToken(createTestWorld(temp.path, spoil(path) ?? {}));
    expect(found).toMatchObject({ status: "failed", advice: expect.stringMatching(/^rm /) });
    expect(JSON.stringify(found)).not.toContain("secret");
  });

  test("fails when it is a link", () => {
    using temp = openTempDir();
    writeFileSync(join(temp.path, "real"), "secret", { mode: 0o600 });
    symlinkSync(join(temp.path, "real"), join(temp.path, "token"));
    expect(checkToken(createTestWorld(temp.path))).toMatchObject({
      status: "failed",
      sentence: expect.stringContaining("is not a file of yours"),
    });
  });
});

function replaceByFile(home: string): undefined {
  rmSync(home, { recursive: true });
  writeFileSync(home, "");
}

function open(folder: string): undefined {
  chmodSync(folder, 0o755);
}

function write(home: string, name: string, content: string): undefined {
  writeFileSync(join(home, name), content);
}
