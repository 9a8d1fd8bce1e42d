import { accessSync, closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { errnoOf, isErrno } from "#base/errno.ts";
import { Fault } from "#contract/fault.ts";
import type { ChildSpec } from "./child.ts";

/** Where programs are looked for that have no PATH. */
export const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/** The file that a program's name stands for in the child's own PATH and work dir; throws `spawn_failed`. */
export function resolveExecutable(
  name: string,
  env: Readonly<Record<string, string>>,
  workDir: string,
): string {
  const problems: Problem[] = [];
  for (const path of listCandidates(name, env, workDir)) {
    const errno = findProblem(path);
    if (errno === undefined) return path;
    problems.push({ path, errno });
  }
  throw describeProblems(name, problems);
}

interface Problem {
  readonly path: string;
  readonly errno: string;
}

function listCandidates(
  name: string,
  env: Readonly<Record<string, string>>,
  workDir: string,
): readonly string[] {
  const from = (path: string) => (isAbsolute(path) ? path : join(workDir, path));
  if (name.includes("/")) return [from(name)];
  const folders = name === "" ? [] : (env.PATH ?? DEFAULT_PATH).split(":");
  return folders.map((folder) => join(from(folder), name));
}

function describeProblems(name: string, problems: readonly Problem[]): Fault {
  const isSearched = !name.includes("/");
  const absent = isSearched ? ["ENOENT", "ENOTDIR"] : ["ENOENT"];
  // As the system's own search does: a file that may not be run is worth more than one that is not there. A folder of
  // PATH that may not be searched says nothing about the file.
  const telling = problems.findLast(
    ({ path, errno }) => !absent.includes(errno) && !(isSearched && isUnsearchable(path)),
  );
  if (telling !== undefined) return spawnFault(name, telling.errno);
  // Exec says the same of a script whose interpreter is missing as of a file that is.
  const isScript = problems.some(({ path }) => findAccessProblem(path) === undefined);
  return isScript ? interpreterFault(name) : spawnFault(name, "ENOENT");
}

/** Whether the folder keeps us from seeing if the file is there. */
function isUnsearchable(path: string): boolean {
  try {
    statSync(path);
    return false;
  } catch (error) {
    return isErrno(error, "EACCES");
  }
}

function interpreterFault(name: string): Fault {
  return createFault(
    { program: name, errno: "ENOENT" },
    "the interpreter that its first line names is not there (a line that ends as on Windows names none either)",
  );
}

const sentences: Readonly<Record<string, string>> = {
  ENOENT: "there is no such program",
  EACCES: "it may not be executed",
  ENOEXEC: "it is no executable format (a script needs a first line such as #!/bin/sh)",
  E2BIG: "its arguments and environment are too large",
  EMFILE: "no file descriptors are left",
  ENFILE: "no file descriptors are left on this system",
  EINVAL: "its arguments or its environment cannot be handed to a program",
  EAGAIN: "no more processes may be started",
  ENOMEM: "there is not enough memory",
};

/** Nothing is wrong with the program: it may start in a moment. */
const SCARCE = new Set(["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"]);

export function spawnFault(name: string, errno: string, cause?: unknown): Fault {
  return createFault({ program: name, errno }, sentences[errno] ?? errno, cause);
}

function createFault(
  details: { readonly program: string; readonly errno: string },
  sentence: string,
  cause?: unknown,
): Fault {
  const message = `cannot run ${JSON.stringify(details.program)}: ${sentence}`;
  const code = SCARCE.has(details.errno) ? "overloaded" : "spawn_failed";
  return new Fault(code, message, { details, cause });
}

/** Throws `spawn_failed` for what no program can be given: C ends a text at NUL, and a variable's name at "=". */
export function checkSpec(spec: Pick<ChildSpec, "argv" | "env" | "work_dir">): void {
  const names = Object.keys(spec.env);
  const texts = [...spec.argv, ...names, ...Object.values(spec.env), spec.work_dir];
  const isOdd = (name: string) => name === "" || name.includes("=");
  if (texts.some((text) => text.includes("\0")) || names.some(isOdd))
    throw spawnFault(spec.argv[0] ?? "", "EINVAL");
  checkWorkDir(spec.work_dir);
}

/** Throws `spawn_failed` when the directory cannot be worked in. */
export function checkWorkDir(path: string): void {
  const fail = (errno: string, sentence: string) =>
    new Fault("spawn_failed", `cannot work in ${JSON.stringify(path)}: ${sentence}`, {
      details: { errno, work_dir: path },
    });
  if (!isAbsolute(path)) throw fail("EINVAL", "the path is not absolute");
  try {
    if (!statSync(path).isDirectory()) throw fail("ENOTDIR", "it is not a directory");
    accessSync(path, constants.X_OK);
  } catch (error) {
    if (error instanceof Fault) throw error;
    const errno = errnoOf(error) ?? "EIO";
    throw fail(
      errno,
      errno === "ENOENT"
        ? "it does not exist"
        : errno === "EACCES"
          ? "it may not be entered"
          : errno,
    );
  }
}

/**
 * What exec would say to this file. A script's interpreter is looked at too, because a child that first joins its
 * cgroup is exec'ed by a shell, which could only report a failure as an exit code.
 */
export function findProblem(path: string): string | undefined {
  return findAccessProblem(path) ?? findFormatProblem(path);
}

function findAccessProblem(path: string): string | undefined {
  try {
    if (!statSync(path).isFile()) return "EACCES";
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    return errnoOf(error) ?? "EIO";
  }
}

const HEAD_BYTES = 256;

function findFormatProblem(path: string): string | undefined {
  const head = Buffer.alloc(HEAD_BYTES);
  let length: number;
  try {
    const fd = openSync(path, "r");
    try {
      length = readSync(fd, head);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    // Executable but not readable is allowed; exec itself will tell.
    return isErrno(error, "EMFILE", "ENFILE") ? errnoOf(error) : undefined;
  }
  if (length >= 4 && head.readUInt32BE(0) === 0x7f454c46) return undefined;
  // Some other binary: the kernel may know a loader for it.
  if (head.subarray(0, length).includes(0)) return undefined;
  const line = head.toString("latin1", 0, length).split("\n")[0] ?? "";
  if (!line.startsWith("#!")) return "ENOEXEC";
  // By spaces and tabs alone, as the kernel does: the carriage return of a line from Windows is part of the name.
  const interpreter = /^[ \t]*([^ \t]*)/.exec(line.slice(2))?.[1] ?? "";
  if (interpreter === "") return "ENOEXEC";
  // Relative to where the child will be, which is not known here.
  return isAbsolute(interpreter) ? findAccessProblem(interpreter) : undefined;
}
