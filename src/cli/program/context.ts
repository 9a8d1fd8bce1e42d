import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import type { Caller } from "#app/caller.ts";
import type { WorkspaceId } from "#contract/ids.ts";
import { chooseDataDir } from "#host/data-dir.ts";

export function findDataDir(): string {
  return chooseDataDir(process.env);
}

/** This very program, for the host that it starts: the file that Node was given. */
export function ownCommand(): readonly string[] {
  return [process.execPath, process.argv[1] ?? ""];
}

/** The user of this machine: whoever can read the data directory may do anything with it. */
export function describeCaller(): Caller {
  const env = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return {
    where: {
      env: Object.fromEntries(env),
      work_dir: process.cwd(),
      umask: process.umask(),
      open_files: findOpenFilesLimit(),
    },
    // The literal and not the schema's constant: schemas are not loaded on this path.
    workspace_id: "wsp_local" as WorkspaceId,
    workspaces: "*",
    role: "admin",
    user_id: undefined,
    token_id: undefined,
  };
}

/** Of who started us: Node has raised our own. */
function findOpenFilesLimit(): number | undefined {
  try {
    const text = readFileSync(`/proc/${process.ppid}/limits`, "latin1");
    const soft = /^Max open files +(\d+)/m.exec(text)?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    // No /proc here, or our parent has gone.
    return undefined;
  }
}

/** How others see who holds control. */
export function viewerName(): string {
  const tty = process.env.SSH_TTY ?? process.env.TMUX_PANE;
  return ["cli", findUserName(), String(process.pid), ...(tty === undefined ? [] : [tty])].join(
    ":",
  );
}

function findUserName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user may be a number that no list of users knows.
    return String(process.getuid?.() ?? "somebody");
  }
}
