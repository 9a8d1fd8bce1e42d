import { spawnSync } from "node:child_process";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { openLock } from "./lock.ts";

test("one lock at a time; it is free again once it is let go", () => {
  using temp = openTempDir();
  const path = join(temp.path, "host.lock");
  {
    using _held = openLock(path);
    expect(() => openLock(path)).toThrow(expect.objectContaining({ code: "conflict" }));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  }
  openLock(path)[Symbol.dispose]();
});

/** What another process is told that wants the lock. */
function askElsewhere(path: string): string {
  const program = `
    import { openLock } from "#host/lock.ts";
    try { openLock(process.argv[1]); process.stdout.write("held"); }
    catch (error) { process.stdout.write(error.code); }
  `;
  const args = ["--input-type=module-typescript", "-e", program, path];
  return spawnSync(process.execPath, args, { encoding: "utf8" }).stdout;
}

test("who asks for a lock that his own process holds takes nothing from it", () => {
  using temp = openTempDir();
  const path = join(temp.path, "host.lock");
  using held = openLock(path);
  expect(() => openLock(path)).toThrow(expect.objectContaining({ code: "conflict" }));
  expect(askElsewhere(path)).toBe("conflict");
  held[Symbol.dispose]();
  expect(askElsewhere(path)).toBe("held");
});

test("a lock that cannot be taken because it is damaged is nobody's", () => {
  using temp = openTempDir();
  const path = join(temp.path, "host.lock");
  writeFileSync(path, "no database".repeat(100));
  expect(() => openLock(path)).toThrow(
    expect.objectContaining({
      code: "host_unavailable",
      message: expect.stringContaining("it can be removed while no host runs"),
    }),
  );
});
