import { readFileSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { findDataDir } from "#cli/program/context.ts";
import type { Client, ServerClient } from "#client/client.ts";
import { asFault, Fault } from "#contract/fault.ts";
import type { OperationInput } from "#contract/operations.ts";
import { findByAddress } from "#registry/runs.ts";
import { isAddress } from "#registry/target-word.ts";
import { listRecords } from "./records.ts";

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

/** The directory that the user is in is one of this machine. */
export function checkRemoteRun(
  remote: string,
  { work_dir, task_id }: OperationInput<"session.create">,
): void {
  parseRemote(remote);
  if (work_dir === undefined && task_id === undefined)
    throw new Fault(
      "invalid_request",
      "say where it runs: with --remote the directory that you are in means nothing, so give --cwd DIR, a path of the server, or --task ID",
    );
  if (work_dir !== undefined && !isAbsolute(work_dir))
    throw new Fault(
      "invalid_request",
      `--cwd: ${JSON.stringify(work_dir)} is relative; with --remote it is a whole path of the server, such as /home/ada/website`,
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

export interface ServerAddress {
  readonly remote: string;
  /** Of that server, when it is not the one that is found. */
  readonly token?: string | undefined;
  /** The address is what a run was named by, so that nothing may be there: without a token it is asked all the same. */
  readonly isTarget?: boolean | undefined;
}

/**
 * The server that a command has to ask; undefined = this machine. A target that is the address of no run of this machine is
 * a server's, and a run that is named by its own address with `--remote` gets its own token.
 */
export function findServer({
  to,
  remote,
}: {
  readonly to: string;
  readonly remote: string | undefined;
}): ServerAddress | undefined {
  if (remote !== undefined) return withToken(remote);
  const word = to.trim();
  if (!isAddress(word) || findByAddress(listRecords(), word) !== undefined) return undefined;
  return { remote: word, isTarget: true };
}

function withToken(named: string): ServerAddress {
  const socketPath = findSocketPath(named);
  const remote = socketPath === undefined ? named : `unix:${socketPath}`;
  const token = findByAddress(listRecords(), remote)?.token;
  return token === undefined ? { remote } : { remote, token };
}

/** A client of the server at an address, with its token or the one that is found. */
export async function openServerClient({
  remote,
  token,
  isTarget = false,
}: ServerAddress): Promise<ServerClient> {
  const url = parseRemote(remote);
  const socketPath = findSocketPath(remote);
  const { createClient } = await import("#client/client.ts");
  if (socketPath === undefined && token === undefined && isTarget)
    return await openTarget(url, remote);
  const known = token ?? (socketPath === undefined ? findToken(url) : getGivenToken(remote));
  if (socketPath === undefined) return createClient({ url: remote, token: known });
  const [{ createUnixFetch }, { createUnixWebSocket }] = await Promise.all([
    import("./unix-fetch.ts"),
    import("./unix-web-socket.ts"),
  ]);
  const fetch = createUnixFetch(socketPath);
  const WebSocket = createUnixWebSocket(socketPath);
  const client = createClient({ url: UNIX_URL, token: known, fetch, WebSocket });
  return { ...client, address: remote };
}

/** Whether a server answers comes first: a missing token is reported only for a server that wants one. */
async function openTarget(url: URL, address: string): Promise<ServerClient> {
  const { createClient } = await import("#client/client.ts");
  try {
    return { ...createClient({ url: url.href, token: findToken(url) }), address };
  } catch (missing) {
    const client = createClient({ url: url.href });
    const call: Client["call"] = (name, input, options) =>
      client.call(name, input, options).catch((error: unknown) => {
        throw asFault(error).code === "unauthenticated" ? missing : error;
      });
    return { ...client, address, call };
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
