import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  checkSpec,
  checkWorkDir,
  findProblem,
  resolveExecutable,
  spawnFault,
} from "./executable.ts";

interface Folder extends Disposable {
  readonly path: string;
  write(name: string, mode?: number, content?: string): string;
}

function openFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), "reins-exec-"));
  return {
    path,
    write(name, mode = 0o755, content = "#!/bin/sh\n") {
      mkdirSync(join(path, name, ".."), { recursive: true });
      writeFileSync(join(path, name), content);
      chmodSync(join(path, name), mode);
      return join(path, name);
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true }),
  };
}

const withErrno = (errno: string) =>
  expect.objectContaining({ code: "spawn_failed", details: expect.objectContaining({ errno }) });

describe("a program's name", () => {
  test("stands for the first that may be run in the child's own PATH", () => {
    using folder = openFolder();
    folder.write("one/prog", 0o644);
    mkdirSync(join(folder.path, "two/prog"), { recursive: true });
    const third = folder.write("three/prog");
    folder.write("four/prog");
    const PATH = ["one", "two", "nowhere", "three", "four"]
      .map((x) => join(folder.path, x))
      .join(":");
    expect(resolveExecutable("prog", { PATH }, "/")).toBe(third);
  });

  test("is looked up from the work dir where the PATH or the name is relative", () => {
    using folder = openFolder();
    const made = folder.write("bin/prog");
    expect(resolveExecutable("prog", { PATH: "bin" }, folder.path)).toBe(made);
    expect(resolveExecutable("prog", { PATH: "" }, join(folder.path, "bin"))).toBe(made);
    expect(resolveExecutable("bin/prog", { PATH: "" }, folder.path)).toBe(made);
    expect(resolveExecutable("./prog", {}, join(folder.path, "bin"))).toBe(made);
  });

  test("is found without a PATH where systems keep their programs", () => {
    expect(resolveExecutable("sh", {}, "/")).toMatch(/\/bin\/sh$/);
  });

  test("that stands for nothing runnable says the most telling problem", () => {
    using folder = openFolder();
    folder.write("one/prog", 0o644);
    const PATH = `${folder.path}/nowhere:${folder.path}/one:${folder.path}/one/prog`;
    expect(() => resolveExecutable("prog", { PATH }, "/")).toThrow(withErrno("EACCES"));
    expect(() => resolveExecutable("other", { PATH }, "/")).toThrow(withErrno("ENOENT"));
    expect(() => resolveExecutable("", { PATH }, "/")).toThrow(withErrno("ENOENT"));
  });
});

/** Root may search every folder. */
function asOrdinaryUser(run: () => void): void {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(NOBODY);
  try {
    run();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

const NOBODY = 65534;

/** Root searches every folder, so only an ordinary user is locked out by the mode. It is set back for the removal. */
function lock(path: string): Disposable {
  if (process.getuid?.() !== 0) chmodSync(path, 0);
  return { [Symbol.dispose]: () => chmodSync(path, 0o700) };
}

test("a program that is nowhere is not there, also when a folder of PATH may not be searched", () => {
  using folder = openFolder();
  chmodSync(folder.path, 0o755);
  mkdirSync(join(folder.path, "locked"), { mode: 0o700 });
  mkdirSync(join(folder.path, "open"));
  using _locked = lock(join(folder.path, "locked"));
  const PATH = `${folder.path}/open:${folder.path}/locked`;
  asOrdinaryUser(() => {
    expect(() => resolveExecutable("prog", { PATH }, "/")).toThrow(withErrno("ENOENT"));
    const path = join(folder.path, "locked", "prog");
    expect(() => resolveExecutable(path, { PATH }, "/")).toThrow(withErrno("EACCES"));
  });
});

describe("a file", () => {
  test.each([
    ["a script", "#!/bin/sh\n", undefined],
    ["a script with an argument", "#! /usr/bin/env  sh\n", undefined],
    ["an ELF program", "\x7fELF\x02", undefined],
    ["a binary of another kind", "MZ\0\0", undefined],
    ["a script with a relative interpreter", "#!bin/sh\n", undefined],
    ["text without a first line for it", "echo hi\n", "ENOEXEC"],
    ["nothing at all", "", "ENOEXEC"],
    ["a first line that names nobody", "#!\n", "ENOEXEC"],
    ["an interpreter that is not there", "#!/nowhere/sh\n", "ENOENT"],
    ["an interpreter and a line's end from Windows", "#!/bin/sh\r\n", "ENOENT"],
    ["an interpreter that is a directory", "#!/tmp\n", "EACCES"],
  ])("with %s is judged as exec would", (_, content, problem) => {
    using folder = openFolder();
    expect(findProblem(folder.write("prog", 0o755, content))).toBe(problem);
  });

  test("that is a loop of links, or behind a file, is no program", () => {
    using folder = openFolder();
    symlinkSync(join(folder.path, "loop"), join(folder.path, "loop"));
    expect(findProblem(join(folder.path, "loop"))).toBe("ELOOP");
    expect(findProblem(join(folder.write("file"), "prog"))).toBe("ENOTDIR");
  });
});

describe("a work dir", () => {
  test("must be an absolute path to a directory", () => {
    using folder = openFolder();
    checkWorkDir(folder.path);
    expect(() => checkWorkDir("relative")).toThrow(withErrno("EINVAL"));
    expect(() => checkWorkDir(join(folder.path, "nowhere"))).toThrow(withErrno("ENOENT"));
    expect(() => checkWorkDir(folder.write("file"))).toThrow(withErrno("ENOTDIR"));
    expect(() => checkWorkDir(join(folder.write("file"), "x"))).toThrow(withErrno("ENOTDIR"));
  });
});

describe("what a program is given", () => {
  test.each([
    ["an argument with a NUL", { argv: ["a", "b\0"] }],
    ["a value with a NUL", { env: { A: "\0" } }],
    ["a name with a NUL", { env: { "A\0": "" } }],
    ["a name with =", { env: { "A=": "" } }],
    ["an empty name", { env: { "": "x" } }],
    ["a path with a NUL", { work_dir: "/tmp\0" }],
  ])("cannot be %s", (_, part) => {
    const spec = { argv: ["a"], env: {}, work_dir: "/tmp", ...part };
    expect(() => checkSpec(spec)).toThrow(withErrno("EINVAL"));
  });

  test("may be anything else", () => {
    checkSpec({ argv: ["", "\x01\uFFFF"], env: { "a b%%": "=" }, work_dir: "/tmp" });
  });
});

describe("a failed spawn", () => {
  test("of a script says that its interpreter is missing, not the script", () => {
    using folder = openFolder();
    const script = folder.write("prog", 0o755, "#!/nowhere/sh\n");
    const isMissing = expect.objectContaining({
      message: expect.stringContaining("the interpreter that its first line names is not there"),
      details: expect.objectContaining({ errno: "ENOENT" }),
    });
    expect(() => resolveExecutable(script, {}, "/")).toThrow(isMissing);
    expect(() => resolveExecutable("prog", { PATH: `/nowhere:${folder.path}:/` }, "/")).toThrow(
      isMissing,
    );
  });

  test("says the program and what is wrong in a sentence, and the errno for programs", () => {
    expect(spawnFault("my prog", "EACCES")).toMatchObject({
      code: "spawn_failed",
      message: 'cannot run "my prog": it may not be executed',
      details: { errno: "EACCES", program: "my prog" },
    });
    expect(spawnFault("x", "EWEIRD").message).toBe('cannot run "x": EWEIRD');
  });

  test.each(["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"])("by %s may be tried again", (errno) => {
    expect(spawnFault("x", errno)).toMatchObject({ code: "overloaded", details: { errno } });
  });
});
