import type { OperationSpec } from "#contract/operations/operation-spec.ts";
import type { OutputRange } from "#contract/operations/reading.ts";
import type { Document, StreamItem } from "#contract/operations.ts";
import { compress } from "./compression.ts";
import { type EventStreamOptions, eventStream } from "./sse.ts";

const PRIVATE = { "Cache-Control": "no-store" };

interface AnswerOptions extends EventStreamOptions {
  /** The encodings that the client accepts, for an answer that may be compressed. */
  readonly compressible?: { readonly accepted: string | undefined } | undefined;
}

/** What a handler gave, as the row of its operation says that it is answered. */
export async function toResponse(
  { answers, status = 200 }: Pick<OperationSpec, "answers" | "status">,
  value: unknown,
  options: AnswerOptions,
): Promise<Response> {
  switch (answers) {
    case "stream":
      // The table and the handlers' types agree: see OperationAnswer.
      return streamResponse(value as AsyncIterable<StreamItem<unknown>>, options);
    case "document":
      return documentResponse(value as Document, options);
    case "bytes":
      options.onEnd();
      return bytesResponse(value as OutputRange);
    default:
      options.onEnd();
      return await jsonResponse(JSON.stringify(value), status, options);
  }
}

async function jsonResponse(
  text: string,
  status: number,
  { compressible }: AnswerOptions,
): Promise<Response> {
  const headers = { ...PRIVATE, "Content-Type": "application/json" };
  if (compressible === undefined) return new Response(text, { status, headers });
  const { body, headers: more } = await compress(text, compressible.accepted);
  return new Response(new Uint8Array(body), { status, headers: { ...headers, ...more } });
}

function streamResponse(
  items: AsyncIterable<StreamItem<unknown>>,
  options: EventStreamOptions,
): Response {
  return new Response(eventStream(items, options), {
    headers: {
      "Content-Type": "text/event-stream",
      "Cache-Control": "no-store, no-transform",
      "X-Accel-Buffering": "no",
    },
  });
}

function documentResponse(
  { media_type, file_name, body }: Document,
  { onEnd, onError }: EventStreamOptions,
) {
  const iterator = body[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const next = await iterator.next();
        if (next.done !== true) {
          const { value } = next;
          controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
          return;
        }
        controller.close();
      } catch (error) {
        // The answer has begun: all that is left is to break it off, so that nobody takes it for whole.
        onError(error);
        controller.error(error);
      }
      onEnd();
    },
    async cancel() {
      onEnd();
      await iterator.return?.();
    },
  });
  const disposition =
    file_name === undefined ? {} : { "Content-Disposition": `attachment; filename="${file_name}"` };
  return new Response(stream, {
    headers: { ...PRIVATE, "Content-Type": media_type, ...disposition },
  });
}

function bytesResponse(range: OutputRange): Response {
  const { offset, next, tail, gap, state, final, bytes } = range;
  return new Response(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), {
    headers: {
      ...PRIVATE,
      "Content-Type": "application/octet-stream",
      "X-Reins-Offset": String(offset),
      "X-Reins-Next": String(next),
      "X-Reins-Tail": String(tail),
      "X-Reins-State": state,
      "X-Reins-Final": final ? "1" : "0",
      ...(gap === null ? {} : { "X-Reins-Gap": `${gap.from}-${gap.to}` }),
    },
  });
}
