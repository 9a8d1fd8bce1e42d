import { Backoff } from "#client/transport/backoff.ts";
import { chunksOf, isPassing, noAnswer, notReins } from "#client/transport/refusal.ts";
import { asFault, Fault, fromFaultBody } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { OperationName, StreamItem } from "#contract/operations.ts";
import { defined } from "#contract/values/defined.ts";
import { parseObject } from "#contract/values/parse-object.ts";
import { type SseEvent, SseParser } from "./sse.ts";
import type { Transport } from "./transport.ts";

/** In a row, with nothing heard in between. */
const ATTEMPTS = 10;
/** The server says something at every heartbeat; three that are missing are a dead connection. */
const SILENCE_MS = 3 * limits.heartbeat_ms;

/**
 * What a cut means:
 * - `exact`: goes on behind the event that was seen last
 * - `again`: begins anew, and the stream's first event says so
 * - `none`: is the end, because asking again would do it again
 */
export type Resumption = "exact" | "again" | "none";

export interface StreamRequest {
  readonly name: OperationName;
  readonly input: object;
  readonly resumption: Resumption;
  readonly signal?: AbortSignal | undefined;
  /** The connection is gone and is tried again. */
  readonly onCut?: (() => void) | undefined;
  /** No pause between two attempts is longer. Absent = 5 s. */
  readonly longestPauseMs?: number | undefined;
  /** Override for tests. */
  readonly silenceMs?: number;
}

/** Server-sent events that live through cuts. A stream that resumes ends only by its signal, its reader or a Fault. */
export async function* followStream(
  transport: Transport,
  request: StreamRequest,
): AsyncGenerator<StreamItem<unknown>, void, void> {
  const { resumption, signal } = request;
  const backoff = new Backoff(transport.random, request.longestPauseMs);
  const place: Place = { backoff, lastId: undefined };
  for (;;) {
    let fault = new Fault("host_unavailable", "the stream ends before anything is said");
    try {
      yield* followOnce(transport, request, place);
      if (resumption === "none") return;
    } catch (error) {
      signal?.throwIfAborted();
      transport.noteFault(asFault(error));
      if (resumption === "none" || !mayPass(asFault(error))) throw error;
      fault = asFault(error);
    }
    if (place.backoff.attempts >= ATTEMPTS) throw fault;
    request.onCut?.();
    await transport.pause(place.backoff.next(), signal);
  }
}

interface Place {
  readonly backoff: Backoff;
  lastId: string | undefined;
}

async function* followOnce(
  transport: Transport,
  request: StreamRequest,
  place: Place,
): AsyncGenerator<StreamItem<unknown>, void, void> {
  for await (const event of openEvents(transport, request, place.lastId)) {
    const item = event === undefined ? undefined : toItem(event);
    // Whatever is heard, if only a heartbeat, shows that the way is open.
    place.backoff.reset();
    place.lastId = event?.id ?? place.lastId;
    if (item !== undefined) yield item;
  }
}

/** One connection's events; undefined for bytes that finished none. */
async function* openEvents(
  transport: Transport,
  { name, input, signal, silenceMs = SILENCE_MS }: StreamRequest,
  lastId: string | undefined,
): AsyncGenerator<SseEvent | undefined, void, void> {
  const ending = new AbortController();
  const signals = signal === undefined ? [ending.signal] : [signal, ending.signal];
  const either = AbortSignal.any(signals);
  const silent = () => ending.abort(new Fault("host_unavailable", "the stream has fallen silent"));
  let timer = setTimeout(silent, silenceMs);
  try {
    const headers = {
      Accept: "text/event-stream",
      ...defined({ "Last-Event-ID": lastId }),
    };
    const asked = lastId === undefined ? input : { ...input, since: undefined };
    const response = await transport.request(name, asked, { signal: either, headers });
    if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true)
      throw notReins(response);
    const parser = new SseParser();
    for await (const chunk of broken(chunksOf(response), response.url, either)) {
      clearTimeout(timer);
      const events = parser.push(chunk);
      if (events.length === 0) yield undefined;
      yield* events;
      // A reader that takes its time is not a server that is silent.
      timer = setTimeout(silent, silenceMs);
    }
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
}

/** A body that breaks off says so as a fault, and one that was aborted as its reason. */
async function* broken(
  chunks: AsyncIterable<Uint8Array>,
  url: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* chunks;
  } catch (error) {
    signal.throwIfAborted();
    throw noAnswer(url, error);
  }
}

/** The answer has begun with a 200, so what goes wrong later is an event; events of a log have an id. */
function toItem({ id, event, data }: SseEvent): StreamItem<unknown> {
  const value = parseObject(data);
  if (value === undefined) throw new Fault("internal", "an event of the stream is no JSON object");
  if (id !== undefined) return { id: Number(id), data: value, text: data };
  if (event !== "error") return { data: value };
  const details = { in_stream: true };
  throw fromFaultBody({ code: String(value.code), message: String(value.message), details });
}

/** A server that stops breaks its streams off as well as it can, not always with the right word. */
function mayPass(fault: Fault): boolean {
  return isPassing(fault) || (fault.code === "internal" && fault.details.in_stream === true);
}
