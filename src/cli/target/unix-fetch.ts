import { type IncomingMessage, request } from "node:http";
import { Readable } from "node:stream";

/** Statuses whose answers have no body, and may not be given one. */
const BODILESS = [204, 205, 304];

/** As `fetch`, as far as the client uses it, over a unix socket: Node's own knows none. */
export function createUnixFetch(socketPath: string): typeof fetch {
  return async (input, init = {}) => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const url = new URL(input instanceof Request ? input.url : input);
    const { method = "GET", body, signal } = init;
    const asking = request({
      socketPath,
      method,
      path: `${url.pathname}${url.search}`,
      headers: { ...Object.fromEntries(new Headers(init.headers)), host: url.host },
      // Each has a connection of its own, which ends with it: nothing is left open that keeps a command alive.
      agent: false,
      ...(signal === null || signal === undefined ? {} : { signal }),
    });
    asking.on("response", resolve);
    asking.on("error", reject);
    // The client sends text or nothing.
    asking.end(typeof body === "string" ? body : undefined);
    const answer = await promise;
    return toResponse(answer);
  };
}

function toResponse(answer: IncomingMessage): Response {
  const status = answer.statusCode ?? 500;
  const headers = new Headers(
    Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    ),
  );
  if (BODILESS.includes(status)) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  // The two types of web streams are one and the same in Node.
  const body = Readable.toWeb(answer) as ReadableStream<Uint8Array<ArrayBuffer>>;
  return new Response(body, { status, headers });
}
