import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { findDataDir } from "#cli/context.ts";
import type { Client } from "#client/client.ts";
import { asFault, Fault } from "#contract/fault.ts";

/** What `--remote unix:PATH` looks like to HTTP: a name of this machine. */
const UNIX_URL = "http://localhost";

/** The path of a unix socket, when that is what an address names. */
export function findSocketPath(remote: string): string | undefined {
  return /^unix:./i.test(remote) ? resolve(remote.slice("unix:".length)) : undefined;
}

/** Throws `invalid_request` for what is not the address of a server. */
export function parseRemote(remote: string): URL {
  if (findSocketPath(remote) !== undefined) return new URL(UNIX_URL);
  const url = URL.parse(remote);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new Fault(
    "invalid_request",
    `--remote: ${JSON.stringify(remote)} does not look like http://127.0.0.1:7346 or unix:/run.sock`,
  );
}

/** The administrator's token of this machine is for servers of this machine: nobody else is shown it. */
function findToken({ hostname }: URL): string {
  const { REINS_TOKEN: given } = process.env;
  if (given !== undefined && given !== "") return given;
  if (!/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname))
    throw new Fault("unauthenticated", `${hostname} wants a token: put it into REINS_TOKEN`);
  const path = join(findDataDir(), "token");
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new Fault(
      "unauthenticated",
      `there is no token: put one into REINS_TOKEN; ${path} cannot be read`,
      { cause: error },
    );
  }
}

export interface RemoteOptions {
  /** Of that server, when it is not the one that is found. */
  readonly token?: string | undefined;
  /** The address is what a run was named by, so that nothing may be there: without a token it is asked all the same. */
  readonly isTarget?: boolean | undefined;
}

/** A client of the server at an address, with its token or the one that is found. */
export async function openRemoteClient(
  remote: string,
  { token, isTarget = false }: RemoteOptions = {},
): Promise<Client> {
  const url = parseRemote(remote);
  const socketPath = findSocketPath(remote);
  const { createClient } = await import("#client/client.ts");
  if (socketPath === undefined && token === undefined && isTarget) return await openTarget(url);
  const known = token ?? (socketPath === undefined ? findToken(url) : getGivenToken(remote));
  if (socketPath === undefined) return createClient({ url: remote, token: known });
  const [{ createUnixFetch }, { createUnixWebSocket }] = await Promise.all([
    import("./unix-fetch.ts"),
    import("./unix-web-socket.ts"),
  ]);
  const fetch = createUnixFetch(socketPath);
  const WebSocket = createUnixWebSocket(socketPath);
  return createClient({ url: UNIX_URL, token: known, fetch, WebSocket });
}

/** Whether a server answers comes first: a missing token is reported only for a server that wants one. */
async function openTarget(url: URL): Promise<Client> {
  const { createClient } = await import("#client/client.ts");
  try {
    return createClient({ url: url.href, token: findToken(url) });
  } catch (missing) {
    const client = createClient({ url: url.href });
    const call: Client["call"] = (name, input, options) =>
      client.call(name, input, options).catch((error: unknown) => {
        throw asFault(error).code === "unauthenticated" ? missing : error;
      });
    return { ...client, call };
  }
}

/** Only runs are served on unix sockets, each with a token of its own: the administrator's is never the right one. */
function getGivenToken(remote: string): string {
  const { REINS_TOKEN: given } = process.env;
  if (given !== undefined && given !== "") return given;
  throw new Fault(
    "unauthenticated",
    `no run of this machine is served at ${remote}; put the token of what is there into REINS_TOKEN`,
  );
}
