import { lstatSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { isAbsolute, resolve } from "node:path";
import { errnoOf } from "#base/errno.ts";
import { Fault } from "#contract/fault.ts";
import { checkExposure, parseListen } from "#daemon/listen.ts";

/** Where a run listens. A unix socket has the name and the port that its clients write into their `Host`. */
export interface RunPlace {
  readonly hostname: string;
  readonly port: number;
  readonly socketPath: string | undefined;
}

/** The kernel's limit for a socket's path is 108 bytes on Linux and 104 on macOS, its end included. */
const SOCKET_PATH_BYTES = 103;
const HTTP_PORT = 80;
const PREFIX = "unix:";

/** `host:port`, `[v6]:port`, `:port`, or a unix socket: `unix:PATH`, or a path with a slash in it. */
export function parseRunPlace(
  listen: string,
  exposure: { readonly isTls: boolean; readonly isAllowed: boolean },
): RunPlace {
  const named = listen.startsWith(PREFIX) ? listen.slice(PREFIX.length) : listen;
  if (named !== listen || named.includes("/")) return parseSocket(named, exposure.isTls);
  const address = parseListen(listen);
  if (address === undefined)
    throw new Fault(
      "invalid_request",
      `--listen: ${JSON.stringify(listen)} is neither like 127.0.0.1:7346 nor the path of a unix socket`,
    );
  checkExposure(address, exposure);
  return { ...address, socketPath: undefined };
}

function parseSocket(path: string, isTls: boolean): RunPlace {
  if (isTls) throw new Fault("invalid_request", "--listen: a unix socket has no use for TLS");
  const socketPath = isAbsolute(path) ? path : resolve(path);
  if (path === "" || path.endsWith("/"))
    throw new Fault("invalid_request", `--listen: ${JSON.stringify(path)} names no file`);
  if (Buffer.byteLength(socketPath) > SOCKET_PATH_BYTES)
    throw new Fault(
      "invalid_request",
      `--listen: the path of a unix socket has at most ${SOCKET_PATH_BYTES} bytes: ${socketPath}`,
    );
  return { hostname: "localhost", port: HTTP_PORT, socketPath };
}

/** What a server left that died. A socket that is answered, and whatever is no socket, stays. */
export async function removeStaleSocket(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket())
    throw new Fault("conflict", `cannot listen on ${path}: something that is no socket is there`);
  const why = await findRefusal(path);
  if (why === "ENOENT") return;
  if (why !== "ECONNREFUSED")
    throw new Fault("conflict", `cannot listen on ${path}: something else listens there`);
  rmSync(path, { force: true });
}

/** Why nobody answers; undefined when somebody does. */
async function findRefusal(path: string): Promise<string | undefined> {
  const { promise, resolve: settle } = Promise.withResolvers<string | undefined>();
  const socket = createConnection(path);
  socket.once("connect", () => settle(undefined));
  socket.once("error", (error) => settle(errnoOf(error) ?? "unknown"));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

/** Runs it with files that only this user may open: a socket has its mode from the moment it is there. */
export async function withPrivateFiles<T>(work: () => Promise<T>): Promise<T> {
  const before = process.umask(0o177);
  try {
    return await work();
  } finally {
    process.umask(before);
  }
}
