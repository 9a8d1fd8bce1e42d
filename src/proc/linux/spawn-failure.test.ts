import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import type { ChildSpec } from "#proc/child.ts";
import { completeSpec, openChildren, openEnds } from "#proc/fixtures/open-children.ts";
import { openHost } from "#proc/fixtures/open-host.ts";
import { Recorder } from "#proc/fixtures/recorder.ts";

const SIZE = { cols: 80, rows: 24 };
const modes = [
  { mode: "a PTY", size: SIZE, cgroups: true },
  { mode: "a PTY, no cgroups", size: SIZE, cgroups: false },
  { mode: "pipes", size: undefined, cgroups: true },
  { mode: "pipes, no cgroups", size: undefined, cgroups: false },
];

function openFolder(): Disposable & { readonly path: string; file(name: string): string } {
  const path = mkdtempSync(join(tmpdir(), "reins-proc-"));
  const write = (name: string, content: string, mode: number) => {
    writeFileSync(join(path, name), content);
    chmodSync(join(path, name), mode);
  };
  write("plain", "#!/bin/sh\necho hi\n", 0o644);
  write("no-shebang", "echo hi\n", 0o755);
  write("empty", "", 0o755);
  write("bad-interpreter", "#!/nowhere/to/be/found\n", 0o755);
  write("directory-interpreter", "#!/tmp -x\n", 0o755);
  write("good", "#!/bin/sh\necho good\n", 0o755);
  mkdirSync(join(path, "directory"));
  return {
    path,
    file: (name) => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true }),
  };
}

describe.each(modes)("on $mode", ({ size, cgroups }) => {
  async function failureOf(spec: Partial<ChildSpec> & Pick<ChildSpec, "argv">): Promise<Fault> {
    await using children = await openChildren({ cgroups });
    const before = openEnds();
    const heard = new Recorder();
    try {
      await children.spawner.spawn(completeSpec({ size, stdin: true, ...spec }), heard);
    } catch (error) {
      expect(openEnds()).toEqual(before);
      if (error instanceof Fault) return error;
      throw error;
    }
    throw new Error("it was spawned");
  }

  test.each([
    ["there is no such program", ["reins-no-such-program"], "ENOENT"],
    ["there is no such file", ["/nowhere/program"], "ENOENT"],
    ["the name is empty", [""], "ENOENT"],
    ["there is no name", [], "ENOENT"],
    ["it is a directory", ["/tmp"], "EACCES"],
    ["an argument holds a NUL", ["echo", "a\0b"], "EINVAL"],
  ])("says so when %s", async (_, argv, errno) => {
    const fault = await failureOf({ argv });
    expect(fault).toMatchObject({
      code: "spawn_failed",
      details: { errno, program: argv[0] ?? "" },
    });
  });

  test.each([
    ["plain", "EACCES"],
    ["no-shebang", "ENOEXEC"],
    ["empty", "ENOEXEC"],
    ["bad-interpreter", "ENOENT"],
    ["directory-interpreter", "EACCES"],
    ["directory", "EACCES"],
  ])("says what is wrong with the file %s", async (name, errno) => {
    using folder = openFolder();
    const byPath = await failureOf({ argv: [folder.file(name)] });
    expect(byPath).toMatchObject({ code: "spawn_failed", details: { errno } });
    const relative = await failureOf({ argv: [`./${name}`], work_dir: folder.path });
    expect(relative).toMatchObject({ code: "spawn_failed", details: { errno } });
  });

  test("says so when a variable cannot be handed over", async () => {
    for (const env of [{ A: "x\0y" }, { "A\0B": "x" }, { "A=B": "x" }, { "": "x" }]) {
      const fault = await failureOf({ argv: ["true"], env });
      expect(fault).toMatchObject({ code: "spawn_failed", details: { errno: "EINVAL" } });
    }
  });

  test("says so when the directory cannot be worked in", async () => {
    using folder = openFolder();
    const errnos: unknown[] = [];
    for (const work_dir of ["/nowhere", folder.file("plain"), "relative", `/tmp\0x`]) {
      const fault = await failureOf({ argv: ["true"], work_dir });
      expect(fault.code).toBe("spawn_failed");
      errnos.push(fault.details.errno);
    }
    expect(errnos).toEqual(["ENOENT", "ENOTDIR", "EINVAL", "EINVAL"]);
  });

  test("says so when the arguments are too large", async () => {
    const long = "x".repeat(128 * 1024);
    const one = await failureOf({ argv: ["true", long] });
    expect(one).toMatchObject({ code: "spawn_failed", details: { errno: "E2BIG" } });
    const many = Array.from({ length: 64 }, () => long.slice(1));
    const all = await failureOf({ argv: ["true", ...many] });
    expect(all).toMatchObject({ code: "spawn_failed", details: { errno: "E2BIG" } });
  });

  test("says so when no descriptors are left, and goes on when there are some again", async () => {
    await using host = openHost({ cgroups, descriptors: 64 });
    const spec = { argv: ["/bin/sh", "-c", "echo made"], size, stdin: true };
    const whole = await host.spawn(spec);
    await whole.heard.untilFinal();
    const usual = await host.number({ op: "descriptors" });
    let failures = 0;
    for (let leave = 0; leave <= 12; leave += 1) {
      await host.ask({ op: "hoard", leave });
      try {
        const made = await host.spawn(spec);
        await made.heard.untilFinal();
      } catch (error) {
        failures += 1;
        expect(error).toMatchObject({ code: "overloaded", details: { errno: "EMFILE" } });
      }
      expect(await host.ask({ op: "release" })).toBe(usual);
    }
    expect(failures).toBeGreaterThan(0);
    expect(failures).toBeLessThan(12);
    expect(await host.number({ op: "zombies" })).toBe(0);
    expect(host.errors).toEqual([]);
  });
});

test("a PTY of an impossible size leaves nothing open", async () => {
  await using children = await openChildren();
  const before = openEnds();
  const spawn = children.pty("true", { size: { cols: 70_000, rows: 24 } });
  await expect(spawn).rejects.toMatchObject({ code: "spawn_failed" });
  expect(openEnds()).toEqual(before);
});
