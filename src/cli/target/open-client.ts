import type { Places } from "#app/session.ts";
import { describeCaller, findDataDir, ownCommand, viewerName } from "#cli/program/context.ts";
import { notice } from "#cli/program/exit.ts";
import type { Client } from "#client/client.ts";
import type { TaskId } from "#contract/ids.ts";

export interface OpenClientOptions extends OwnOptions {
  /** The target of the command; the address of a server means that server. */
  readonly to?: string | undefined;
  /** The address of a server; absent = this machine. */
  readonly remote?: string | undefined;
}

interface OwnOptions {
  /** What is started is for this task; a server looks for it itself. */
  readonly task?: string | undefined;
  /** How this machine's sessions are reached; see `OwnClientOptions`. */
  readonly host?: "start" | "join" | "read" | undefined;
  /** The command calls `attach`. */
  readonly attaches?: boolean | undefined;
}

/** The client of a command: of the server that is named, or of this machine. */
export async function openClient({
  to = "",
  remote,
  ...own
}: OpenClientOptions = {}): Promise<Client & AsyncDisposable> {
  if (remote !== undefined || /^\s*https?:/i.test(to)) {
    const { findServer, openServerClient } = await import("./server.ts");
    const server = findServer({ to, remote });
    if (server !== undefined)
      return { ...(await openServerClient(server)), [Symbol.asyncDispose]: async () => undefined };
  }
  return await openOwn(own);
}

/** The sessions of this machine, whatever was named. */
export async function openOwn({ task, ...how }: OwnOptions = {}) {
  const [{ openOwnClient }, places] = await Promise.all([
    import("#daemon/own/own-client.ts"),
    findPlaces(task),
  ]);
  return await openOwnClient({
    dataDir: findDataDir(),
    command: ownCommand(),
    env: process.env,
    caller: describeCaller(),
    viewer: viewerName(),
    ...{ places, ...how },
    onUnwritable: ({ message }) => notice(`${message}. Showing what its files hold.`),
  });
}

/** The name of a session for another command: its id, and the server that has it. */
export function nameThere({ address }: Pick<Client, "address">, sessionId: string): string {
  return address === undefined ? sessionId : `${sessionId} --remote ${address}`;
}

/** Tasks are the server's, but its records can be read without it. */
async function findPlaces(task: string | undefined): Promise<Places | undefined> {
  if (task === undefined) return undefined;
  const { openRecords } = await import("#cli/admin/records.ts");
  using records = await openRecords(undefined);
  // Whatever it looks like, one that is not there is `task_not_found`.
  const found = await records.operations["task.get"]({ task_id: task as TaskId });
  return { hasWorkspace: () => true, findTask: () => found };
}
