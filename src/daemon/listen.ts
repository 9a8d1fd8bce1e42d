import { isIP } from "node:net";
import { Fault } from "#contract/fault.ts";

export interface ListenAddress {
  readonly hostname: string;
  readonly port: number;
}

export const DEFAULT_LISTEN = "127.0.0.1:7346";
const MOST_PORT = 65_535;

/** `host:port`, `[v6]:port` or `:port`; undefined when it is none of them. */
export function parseListen(text: string): ListenAddress | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > MOST_PORT) return undefined;
  const hostname = match[1] ?? match[2] ?? "";
  if (match[1] !== undefined && isIP(hostname) !== 6) return undefined;
  return { hostname: hostname === "" ? "127.0.0.1" : hostname, port };
}

export function isLoopback(hostname: string): boolean {
  if (isIP(hostname) === 4) return hostname.startsWith("127.");
  return hostname === "localhost" || hostname === "::1";
}

/** Tokens and everything that is typed would cross the network for all to read. */
export function checkExposure(
  { hostname }: ListenAddress,
  { isTls, isAllowed }: { readonly isTls: boolean; readonly isAllowed: boolean },
): void {
  if (isLoopback(hostname) || isTls || isAllowed) return;
  throw new Fault(
    "invalid_request",
    `${hostname} can be reached from elsewhere: give tls (--tls-cert, --tls-key), or say --allow-insecure when something before it has TLS`,
    { details: { hostname } },
  );
}
