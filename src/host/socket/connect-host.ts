import { lstatSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { dirname } from "node:path";
import { errnoOf } from "#base/errno.ts";
import { Fault } from "#contract/fault.ts";
import { defined } from "#contract/values/defined.ts";
import type { Binding } from "#host/find-binding.ts";
import { findProcess } from "#proc/identity.ts";
import { findPeer } from "#proc/platform/find-peer.ts";
import { type ConnectionOptions, type HostClient, openHostClient } from "./client.ts";
import { descriptorOf } from "./descriptor-of.ts";

export interface ConnectOptions extends Pick<ConnectionOptions, "helloMs" | "answerMs" | "isBusy"> {
  readonly socketOwner?: number;
  /** Whose the connection is. Asked only of a host that knows the difference; undefined = without a secret. */
  readonly findBinding?: () => Binding | undefined;
}

/** Connects to the host's unix socket. Throws `host_unavailable` with the errno in its details when no host answers. */
export async function connectHost(path: string, options: ConnectOptions = {}): Promise<HostClient> {
  const client = await greetHost(path, options);
  const isKnown = client.hello.features.includes("bound");
  const binding = isKnown ? options.findBinding?.() : undefined;
  if (binding === undefined) return client;
  try {
    await client.call("connection.bind", binding);
    return client;
  } catch (error) {
    client[Symbol.dispose]();
    throw error;
  }
}

async function greetHost(
  path: string,
  { socketOwner, ...options }: ConnectOptions,
): Promise<HostClient> {
  checkOwner(path, socketOwner ?? process.getuid?.());
  const socket = createConnection(path);
  return await openHostClient(socket, {
    ...options,
    describeSilence: () => describeSilence(path, socket),
    describeEnd: (error) => unreachable(path, error),
  });
}

/** A host that was stopped, or that hangs, takes connections and says nothing. */
async function describeSilence(path: string, socket: Socket): Promise<Fault> {
  const fd = descriptorOf(socket);
  const pid = fd === undefined ? undefined : await findPeer(fd);
  const isStopped = pid !== undefined && findProcess(pid)?.state === "T";
  const message = isStopped
    ? `the host (process ${pid}) is stopped. Continue it with: kill -CONT ${pid}`
    : `the host${pid === undefined ? "" : ` (process ${pid})`} does not answer. Wait, or end it and its sessions with: kill -9 ${pid ?? "PID"}`;
  return new Fault("host_unavailable", message, {
    details: { socket: path, errno: "ETIMEDOUT", ...defined({ pid }) },
  });
}

/** We send our environment over this socket, so it must be our own, or root's doing. */
function checkOwner(path: string, uid: number | undefined): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const folder = lstatSync(dirname(path), { throwIfNoEntry: false });
  if (found === undefined || folder === undefined || uid === undefined) return;
  if (found.uid === uid && folder.uid === uid) return;
  throw new Fault(
    "host_unavailable",
    `the socket ${path} belongs to another user and is not trusted`,
    {
      details: { socket: path },
    },
  );
}

function unreachable(path: string, error: Error | undefined): Fault {
  return new Fault("host_unavailable", "no host answers", {
    details: { socket: path, errno: errnoOf(error) ?? "ECONNRESET" },
    cause: error,
  });
}
