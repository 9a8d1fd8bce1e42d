import { Fault } from "#contract/fault.ts";

/** Which names this server answers to, and which pages may use it. */
export interface Origins {
  /** Throws `forbidden` for a `Host` that is not ours: a name that an attacker has pointed at this address. */
  checkHost(host: string | undefined): void;
  /** Throws `forbidden` for a page of somebody else's. Programs send no `Origin`. */
  checkOrigin(origin: string | undefined): void;
}

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];

interface OriginOptions {
  /** The address that we listen on. */
  readonly hostname: string;
  readonly port: number;
  readonly isTls: boolean;
  /** How the world sees us, when something stands before us. */
  readonly publicUrl?: string | undefined;
}

export function createOrigins(options: OriginOptions): Origins {
  const scheme = options.isTls ? "https" : "http";
  const names = [...LOOPBACK_NAMES, bracketed(options.hostname)];
  const origins = new Set(
    names.map((name) => new URL(`${scheme}://${name}:${options.port}`).origin),
  );
  if (options.publicUrl !== undefined) origins.add(new URL(options.publicUrl).origin);
  const hosts = new Set([...origins].flatMap(hostsOf));
  return {
    checkHost: (host) => {
      if (host !== undefined && hosts.has(host.toLowerCase())) return;
      throw new Fault(
        "forbidden",
        `this server does not answer to the name ${JSON.stringify(host ?? "")}; public_url adds one`,
        { details: { header: "Host" } },
      );
    },
    checkOrigin: (origin) => {
      if (origin === undefined || origins.has(origin)) return;
      throw new Fault(
        "forbidden",
        `a page of ${JSON.stringify(origin)} may not use this server; public_url adds an origin`,
        { details: { header: "Origin" } },
      );
    },
  };
}

/** As a client writes it: with the port, and without it where it is the scheme's own. */
function hostsOf(origin: string): string[] {
  const { host, hostname, port, protocol } = new URL(origin);
  if (port !== "") return [host];
  return [hostname, `${hostname}:${protocol === "https:" ? 443 : 80}`];
}

function bracketed(hostname: string): string {
  return hostname.includes(":") && !hostname.startsWith("[") ? `[${hostname}]` : hostname;
}
