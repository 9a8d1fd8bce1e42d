import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { fileURLToPath } from "node:url";
import type { Caller } from "#app/caller.ts";
import {
  createSessionOperations,
  localPlaces,
  type Places,
  type SessionOperations,
} from "#app/session.ts";
import type { WorkspaceId } from "#contract/ids.ts";
import { chooseDataDir, locateDataDir } from "#host/data-dir.ts";
import type { HostClient } from "#host/socket/client.ts";
import { joinHost, openHost } from "#host/socket/start-host.ts";
import { createLocalHosts } from "#session/local-host.ts";
import type { SessionHosts } from "#session/session-host.ts";

/** A command's way to the sessions of this machine: no server, the operations run here. */
export interface Local extends Disposable {
  readonly hosts: SessionHosts;
  readonly operations: SessionOperations;
}

export async function openLocal(places: Places = localPlaces): Promise<Local> {
  const dataDir = findDataDir();
  return createLocal(await openHost({ dataDir, command: ownCommand(), env: process.env }), places);
}

/** The same where a host runs; undefined where none does. It starts none. */
export async function findLocal(): Promise<Local | undefined> {
  const host = await joinHost(findDataDir(), process.env);
  return host === undefined ? undefined : createLocal(host, localPlaces);
}

function createLocal(host: HostClient, places: Places): Local {
  const hosts = createLocalHosts(host, locateDataDir(findDataDir()).sessions);
  return {
    hosts,
    operations: createSessionOperations({ hosts, places }, describeCaller()),
    [Symbol.dispose]: () => host[Symbol.dispose](),
  };
}

export function findDataDir(): string {
  return chooseDataDir(process.env);
}

/** This very program, for the host that it starts: the file that Node was given. */
export function ownCommand(): readonly string[] {
  return [
    process.execPath,
    process.argv[1] ?? fileURLToPath(new URL("../../bin/reins", import.meta.url)),
  ];
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
