import { lookup as systemLookup } from "node:dns";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { PassThrough, pipeline, type Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { messageOf } from "#base/errno.ts";
import { Fault } from "#contract/fault.ts";
import { isPublicAddress } from "./address.ts";

/*
 * One GET without trust in where it leads:
 *
 *   URL ── scheme, host allowed? ── names resolved, private addresses left out ── connected ── peer looked at
 *    ↑                                                                                            │
 *    └──────────────────────────── redirect, at most REDIRECTS times ─────────────────────────────┤
 *                                                                              body, bounded ←────┘
 *
 * The address that was checked is the one that is connected to: there is no second look-up in between.
 */

const REDIRECTS = 5;
/** As it comes over the wire, and as it is behind the decompression. */
const WIRE_BYTES = 8 * 1024 * 1024;
const BODY_BYTES = 8 * 1024 * 1024;
const HEADER_BYTES = 64 * 1024;

interface GetPolicy {
  readonly allow_private: boolean;
  readonly allow_hosts: readonly string[] | undefined;
  /** Names to addresses, as `dns.lookup` does with `all`. */
  readonly lookup?: Lookup | undefined;
  readonly version: string;
}

export type Lookup = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: Error | null, addresses: readonly Address[]) => void,
) => void;
interface Address {
  readonly address: string;
  readonly family: number;
}

export interface Got {
  /** Of the last redirect. */
  readonly url: string;
  readonly status: number;
  readonly content_type: string;
  readonly body: Buffer;
  /** There was more than may be read. */
  readonly isCut: boolean;
}

export async function httpGet(
  first: string,
  policy: GetPolicy,
  { signal }: { readonly signal: AbortSignal },
): Promise<Got> {
  let url = parseUrl(first, undefined);
  for (let redirects = 0; redirects <= REDIRECTS; redirects += 1) {
    checkHost(url, policy);
    const response = await send(url, policy, signal);
    try {
      const next = nextOf(response, url);
      if (next === undefined) return await receive(response, url, signal);
      url = next;
    } finally {
      // A connection that nobody reads from would stay.
      response.destroy();
    }
  }
  throw new Fault("invalid_request", `url: more than ${REDIRECTS} redirects, the last to ${url}`);
}

function parseUrl(text: string, from: URL | undefined): URL {
  const url = URL.parse(text, from?.href);
  const where = from === undefined ? "url" : `a redirect of ${from.host}`;
  if (url === null) throw wrong(`${where}: it is not a valid address`);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw wrong(`${where}: only http and https can be fetched, not ${url.protocol}`);
  if (url.username !== "" || url.password !== "")
    throw wrong(`${where}: an address with a name and password is not fetched`);
  return url;
}

function checkHost(url: URL, { allow_hosts, allow_private }: GetPolicy): void {
  const host = url.hostname.replace(/\.$/, "");
  if (allow_hosts !== undefined && !allow_hosts.some((pattern) => isHost(pattern, host)))
    throw new Fault("forbidden", `${host} is not one of the hosts that may be fetched from`);
  // An address is connected to without a look-up.
  const literal = host.replace(/^\[|\]$/g, "");
  if (isIP(literal) !== 0 && !allow_private && !isPublicAddress(literal)) throw isPrivate(host);
}

function isHost(pattern: string, host: string): boolean {
  const wanted = pattern.toLowerCase();
  return wanted.startsWith("*.") ? host.endsWith(wanted.slice(1)) : host === wanted;
}

async function send(url: URL, policy: GetPolicy, signal: AbortSignal): Promise<IncomingMessage> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = (url.protocol === "https:" ? requestHttps : requestHttp)(url, {
    method: "GET",
    // A connection of its own: one that is kept might be to what another policy allowed.
    agent: false,
    lookup: createLookup(policy),
    signal,
    maxHeaderSize: HEADER_BYTES,
    headers: {
      accept: "text/html, text/markdown, text/plain, application/json, */*;q=0.5",
      "accept-encoding": "gzip, deflate, br",
      "user-agent": `reins/${policy.version}`,
    },
  });
  request.on("error", (error) => reject(asRefusal(error, url, signal)));
  request.on("response", (response) => {
    const peer = response.socket.remoteAddress ?? "";
    if (policy.allow_private || isPublicAddress(peer)) return resolve(response);
    response.destroy();
    reject(isPrivate(url.host));
  });
  request.end();
  return await promise;
}

/** Leaves out what may not be reached; a name with nothing else is refused. */
export function createLookup({
  allow_private,
  lookup = systemLookup,
}: Pick<GetPolicy, "allow_private" | "lookup">): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const usable = addresses.filter(({ address }) => allow_private || isPublicAddress(address));
      const [first] = usable;
      if (first === undefined) return callback(isPrivate(hostname), []);
      if (options.all === true) return callback(null, [...usable]);
      callback(null, first.address, first.family);
    });
  };
}

const MOVED: readonly (number | undefined)[] = [301, 302, 303, 307, 308];

function nextOf({ statusCode, headers }: IncomingMessage, url: URL): URL | undefined {
  if (!MOVED.includes(statusCode) || headers.location === undefined) return undefined;
  return parseUrl(headers.location, url);
}

async function receive(response: IncomingMessage, url: URL, signal: AbortSignal): Promise<Got> {
  const wire = createCounter();
  const body = unpack(response, wire);
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      // None of the streams has an encoding, so what comes are bytes.
      const bytes = (chunk as Buffer).subarray(0, BODY_BYTES - length);
      parts.push(bytes);
      length += bytes.length;
      if (length >= BODY_BYTES) break;
    }
  } catch (error) {
    if (signal.aborted || !wire.isFull) throw asRefusal(error, url, signal);
  }
  return {
    url: url.href,
    status: response.statusCode ?? 0,
    content_type: response.headers["content-type"] ?? "",
    body: Buffer.concat(parts),
    isCut: length >= BODY_BYTES || wire.isFull,
  };
}

interface Counter {
  readonly stream: Transform;
  readonly isFull: boolean;
}

/** Ends what is longer than it may be, also where little comes out of it. */
function createCounter(): Counter {
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > WIRE_BYTES) done(new Error("the answer is too long"));
      else done(null, chunk);
    },
  });
  return {
    stream,
    get isFull() {
      return bytes > WIRE_BYTES;
    },
  };
}

function unpack(response: IncomingMessage, { stream }: Counter): Readable {
  const encoding = (response.headers["content-encoding"] ?? "").trim().toLowerCase();
  const unpacker = Object.hasOwn(unpackers, encoding) ? unpackers[encoding] : undefined;
  if (unpacker === undefined)
    throw wrong(`the answer is packed as ${encoding}, which was not asked for`);
  // Whichever part fails ends the others; who reads the last one hears of it.
  const heard = () => undefined;
  return pipeline(response, stream, unpacker(), heard);
}

const unpackers: Readonly<Record<string, () => Transform>> = {
  "": () => new PassThrough(),
  identity: () => new PassThrough(),
  gzip: () => createGunzip(),
  "x-gzip": () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
};

function asRefusal(error: unknown, url: URL, signal: AbortSignal): unknown {
  if (error instanceof Fault) return error;
  if (signal.aborted) return signal.reason;
  return wrong(`${url.host} cannot be fetched from: ${messageOf(error)}`, error);
}

function isPrivate(host: string): Fault {
  return new Fault("forbidden", `${host} is a private address, which may not be fetched from`);
}

function wrong(message: string, cause?: unknown): Fault {
  return new Fault("invalid_request", message, { cause });
}
