import { Fault, fromFaultBody } from "#contract/fault.ts";
import type { FaultCode } from "#contract/faults.ts";
import { defined } from "#contract/values/defined.ts";
import { isObject } from "#contract/values/is-object.ts";
import { parseObject } from "#contract/values/parse-object.ts";

/** Of a refusal; more than this is a page of something that stands between. */
const REFUSAL_BYTES = 64 * 1024;
/** Of what somebody else has answered, for people to look at. */
const SHOWN_CHARS = 4096;

/** What a status means when it did not come from Reins. */
const foreign: Readonly<Record<number, FaultCode>> = {
  401: "unauthenticated",
  403: "forbidden",
  407: "unauthenticated",
  413: "payload_too_large",
  429: "too_many",
  502: "host_unavailable",
  503: "host_unavailable",
  504: "host_unavailable",
};

/** A refused request as a fault: in the server's own words, or that the answer was not the server's. */
export async function readRefusal(response: Response): Promise<Fault> {
  const text = new TextDecoder().decode(await readStart(response, REFUSAL_BYTES));
  const body = findError(text);
  if (body === undefined) return notReins(response, text);
  const { code, message, details } = body;
  return fromFaultBody({ code, message, details: { ...details, ...retryAfter(response) } });
}

/** Something answered, but not Reins: a proxy's page, a redirect to a login, another program. */
export function notReins({ status, url, headers }: Response, said = ""): Fault {
  const code = foreign[status] ?? (status >= 500 ? "internal" : "invalid_request");
  const type = headers.get("content-type") ?? "no type";
  const where = URL.parse(url)?.origin ?? "the address";
  const body = said === "" ? {} : { body: said.slice(0, SHOWN_CHARS) };
  return new Fault(
    code,
    `${where} does not answer as a Reins server (status ${status}, ${type}): it is another program, or a proxy answered`,
    { details: { status, url, not_reins: true, ...body } },
  );
}

/** Nobody answered at all. */
export function noAnswer(url: string, cause: unknown): Fault {
  return new Fault(
    "host_unavailable",
    `${URL.parse(url)?.origin ?? "the server"} cannot be reached`,
    {
      details: { url },
      cause,
    },
  );
}

/** Whether the same request may succeed in a moment, for nothing was wrong with it. */
export function isPassing({ code }: Fault): boolean {
  return code === "host_unavailable" || code === "shutting_down" || code === "overloaded";
}

/** The beginning of an answer that may be cut or endless; the rest is not taken. */
async function readStart(response: Response, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of chunksOf(response)) {
      chunks.push(chunk.subarray(0, limit - size));
      size = Math.min(limit, size + chunk.byteLength);
      if (size === limit) break;
    }
  } catch {
    // What came before it broke off says more than nothing.
  }
  return join(chunks, size);
}

export async function readBytes(
  response: Response,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunksOf(response)) {
    size += chunk.byteLength;
    if (size > limit)
      throw new Fault("payload_too_large", `the answer has more than ${limit} bytes`);
    chunks.push(chunk);
  }
  return join(chunks, size);
}

function join(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

/** Not every browser iterates over a body by itself. Who stops early ends the request. */
export async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array, void, void> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      // What fetch gives is bytes.
      yield next.value as Uint8Array;
    }
  } finally {
    // Of an answer that has broken off there is nothing left to cancel.
    await reader.cancel().catch(() => undefined);
  }
}

interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

function findError(text: string): ErrorBody | undefined {
  const value = parseObject(text);
  if (!isObject(value?.error)) return undefined;
  const { code, message, details, request_id } = value.error;
  if (typeof code !== "string" || typeof message !== "string") return undefined;
  const more = isObject(details) ? details : {};
  return {
    code,
    message,
    details: { ...more, ...defined({ request_id }) },
  };
}

function retryAfter({ headers }: Response): { readonly retry_after_s?: number } {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) ? { retry_after_s: seconds } : {};
}
