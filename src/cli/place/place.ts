import type { LocalDoor } from "#app/local-door.ts";
import { describeCaller, findDataDir, ownCommand } from "#cli/context.ts";
import type { Runtime } from "#contract/agent/runtime.ts";
import { findToken, parseRemote } from "./remote.ts";

/** Where sessions are: on this machine, or behind a server. A command asks both in the same words. */
export interface Place extends LocalDoor, AsyncDisposable {
  /** Undefined on this machine without a server. */
  readonly address: string | undefined;
  readonly isRemote: boolean;
  /** An agent session there. */
  runtime(sessionId: string): Promise<Runtime>;
}

export interface PlaceOptions {
  /** The address of a server; absent = this machine. */
  readonly remote?: string | undefined;
  /** Of that server, when it is not the one that is found. */
  readonly token?: string | undefined;
}

export async function openPlace({ remote, token }: PlaceOptions = {}): Promise<Place> {
  return remote === undefined ? await openHere() : await openThere(remote, token);
}

async function openHere(): Promise<Place> {
  const { openLocalPlace } = await import("#daemon/local-place.ts");
  const place = openLocalPlace({
    dataDir: findDataDir(),
    command: ownCommand(),
    env: process.env,
    caller: describeCaller(),
  });
  return await withRuntime(place, { address: undefined, isRemote: false });
}

async function openThere(remote: string, token: string | undefined): Promise<Place> {
  const url = parseRemote(remote);
  const { createClient } = await import("#client/client.ts");
  const client = createClient({ url: remote, token: token ?? findToken(url) });
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
  return await withRuntime(place, { address: remote, isRemote: true });
}

async function withRuntime(
  door: LocalDoor & AsyncDisposable,
  where: Pick<Place, "address" | "isRemote">,
): Promise<Place> {
  const { createBackend } = await import("#contract/agent/create-backend.ts");
  const backend = createBackend(door);
  return { ...door, ...where, runtime: (sessionId) => backend.open(sessionId) };
}
