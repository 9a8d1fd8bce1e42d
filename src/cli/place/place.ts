import type { LocalDoor } from "#app/local-door.ts";
import { describeCaller, findDataDir, ownCommand } from "#cli/context.ts";
import type { Client } from "#client/client.ts";
import type { Runtime, RuntimeBackend } from "#contract/runtime/runtime.ts";
import { guardMemory } from "#proc/platform/guard-memory.ts";
import { openRemoteClient, type RemoteOptions } from "./remote.ts";
import { findTaskPlaces } from "./task-places.ts";

/** Where sessions are: on this machine, or behind a server. A command asks both in the same words. */
export interface Place extends LocalDoor, AsyncDisposable {
  /** Undefined on this machine without a server. */
  readonly address: string | undefined;
  readonly isRemote: boolean;
  /** Teams and agent sessions there. */
  readonly backend: RuntimeBackend;
  /** An agent session there. */
  runtime(sessionId: string): Promise<Runtime>;
}

/** Behind a server, where terminals are reached over a socket. */
export interface RemotePlace extends Place, Pick<Client, "attach"> {
  readonly address: string;
}

export interface PlaceOptions extends RemoteOptions {
  /** The address of a server; absent = this machine. */
  readonly remote?: string | undefined;
  /** What is started is for this task; a server looks for it itself. */
  readonly task?: string | undefined;
}

/** What names a session of a place to another command: its id, and where it is. */
export function nameThere({ address }: Pick<Place, "address">, sessionId: string): string {
  return address === undefined ? sessionId : `${sessionId} --remote ${address}`;
}

export async function openPlace({ remote, task, ...how }: PlaceOptions = {}): Promise<Place> {
  return remote === undefined ? await openHere(task) : await openRemotePlace({ remote, ...how });
}

async function openHere(task: string | undefined): Promise<Place> {
  // Before the keys of model providers are read from our environment.
  await guardMemory(process.env);
  const { openLocalPlace } = await import("#daemon/local-place.ts");
  const place = openLocalPlace({
    dataDir: findDataDir(),
    command: ownCommand(),
    env: process.env,
    caller: describeCaller(),
    places: await findTaskPlaces(task),
  });
  return await withRuntime(place, { address: undefined, isRemote: false });
}

export async function openRemotePlace({
  remote,
  ...how
}: PlaceOptions & { readonly remote: string }): Promise<RemotePlace> {
  const client = await openRemoteClient(remote, how);
  const door: LocalDoor = {
    call: client.call,
    stream: client.stream,
    output: client.output,
    document: async (name, input, asking) => {
      const { media_type, file_name, body } = await client.document(name, input, asking);
      return { media_type, file_name, body };
    },
  };
  const place = { ...door, [Symbol.asyncDispose]: async () => undefined };
  const { attach } = client;
  return {
    ...(await withRuntime(place, { address: remote, isRemote: true })),
    address: remote,
    attach,
  };
}

async function withRuntime(
  door: LocalDoor & AsyncDisposable,
  where: Pick<Place, "address" | "isRemote">,
): Promise<Place> {
  const { createBackend } = await import("#contract/runtime/create-backend.ts");
  const backend = createBackend(door);
  return { ...door, ...where, backend, runtime: (sessionId) => backend.open(sessionId) };
}
