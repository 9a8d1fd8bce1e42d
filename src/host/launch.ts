import { writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { DEFAULT_PATH, findProblem } from "#proc/executable.ts";

export interface LaunchRequest {
  readonly command?: string | undefined;
  readonly argv?: readonly string[] | undefined;
  /** The shell for lines and for terminals without either; bash where there is one. */
  readonly shell?: string | undefined;
  readonly path: string | undefined;
}

export interface Launch {
  readonly argv: readonly string[];
  readonly shell: string | null;
  /** What people see where the session has no title. */
  readonly caption: string;
  /** A line that is too long for an argument, and the file that takes its place. */
  readonly script?: { readonly content: string; readonly file: string };
}

const SCRIPT_FILE = "command.sh";

/** What a request means as a program and its arguments. `dir` is the session's own, for a script. */
export function planLaunch(request: LaunchRequest, dir: string): Launch {
  if (request.argv !== undefined) {
    return { argv: request.argv, shell: null, caption: request.argv.join(" ") };
  }
  const shell = request.shell ?? findShell(request.path ?? DEFAULT_PATH);
  if (request.command === undefined) return { argv: [shell, "-l"], shell, caption: shell };
  const caption = request.command.trim().split("\n")[0] ?? "";
  if (Buffer.byteLength(request.command) <= limits.argument_bytes) {
    // A line that begins like an option would be taken for one.
    const line = /^[-+]/.test(request.command) ? ` ${request.command}` : request.command;
    return { argv: [shell, "-c", line], shell, caption };
  }
  // The kernel takes at most 128 KiB in one argument.
  const file = join(dir, SCRIPT_FILE);
  return { argv: [shell, file], shell, caption, script: { content: request.command, file } };
}

export function writeScript(launch: Launch): void {
  if (launch.script !== undefined)
    writeFileSync(launch.script.file, `${launch.script.content}\n`, { mode: 0o600 });
}

function findShell(path: string): string {
  for (const name of ["bash", "sh"]) {
    // Not in a folder that is relative: whose it is depends on where the session works.
    for (const folder of path.split(":").filter(isAbsolute)) {
      const file = join(folder, name);
      if (findProblem(file) === undefined) return file;
    }
  }
  if (findProblem("/bin/sh") === undefined) return "/bin/sh";
  throw new Fault("spawn_failed", "there is no shell: neither bash nor sh is in PATH", {
    details: { errno: "ENOENT" },
  });
}
