import { createConnection } from "node:net";
import type { RunRecord } from "./run-record.ts";

/** A server of this machine takes a connection at once, however busy it is: the kernel does it. */
const PROBE_MS = 500;

/** Those whose address takes connections. The others keep their record: who serves there lives, and may come to itself. */
export async function findAnswering(records: readonly RunRecord[]): Promise<RunRecord[]> {
  const probed = await Promise.all(
    records.map(async (record) => ({ record, isOpen: await takesConnections(record.address) })),
  );
  return probed.filter(({ isOpen }) => isOpen).map(({ record }) => record);
}

async function takesConnections(address: string | null): Promise<boolean> {
  const place = address === null ? undefined : parsePlace(address);
  if (place === undefined) return false;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = createConnection(place);
  socket.setTimeout(PROBE_MS, () => resolve(false));
  socket.once("connect", () => resolve(true));
  socket.once("error", () => resolve(false));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

function parsePlace(address: string) {
  if (address.startsWith("unix:")) return { path: address.slice("unix:".length) };
  const url = URL.parse(address);
  if (url === null) return undefined;
  const { hostname, port, protocol } = url;
  const usual = protocol === "https:" ? 443 : 80;
  return {
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port === "" ? usual : Number(port),
  };
}
