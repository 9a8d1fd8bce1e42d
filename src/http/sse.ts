import type { Clock } from "#base/clock.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { StreamItem } from "#contract/operations.ts";
import { sayFault } from "./fault-response.ts";

export interface EventStreamOptions {
  readonly clock: Clock;
  /** Aborted with a fault when the reader is sent away. */
  readonly signal: AbortSignal;
  /** Called when the reader has gone or everything was said. */
  readonly onEnd: () => void;
  /** What went wrong after the answer has begun. */
  readonly onError: (error: unknown) => void;
}

const HEARTBEAT = ": alive\n\n";

/**
 * Server-sent events. The next item is asked for when the reader has taken the last one, so a slow reader costs one
 * item; a comment now and then keeps what stands between from closing a quiet stream.
 */
export function eventStream(
  items: AsyncIterable<StreamItem<unknown>>,
  { clock, signal, onEnd, onError }: EventStreamOptions,
): ReadableStream<Uint8Array> {
  const iterator = items[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let heartbeat: Disposable | undefined;
  let hasBegun = false;
  const end = () => {
    heartbeat?.[Symbol.dispose]();
    onEnd();
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        hasBegun = true;
        const beat = () => {
          // One that was not taken yet says enough.
          if (controller.desiredSize === 0) controller.enqueue(encoder.encode(HEARTBEAT));
          heartbeat = clock.timer(limits.heartbeat_ms, beat);
        };
        heartbeat = clock.timer(limits.heartbeat_ms, beat);
        try {
          const next = await iterator.next();
          heartbeat[Symbol.dispose]();
          if (next.done !== true) {
            controller.enqueue(encoder.encode(formatEvent(next.value)));
            return;
          }
          if (signal.reason instanceof Fault) throw signal.reason;
        } catch (error) {
          onError(error);
          controller.enqueue(encoder.encode(formatError(error)));
        }
        end();
        controller.close();
      },
      async cancel() {
        end();
        // A generator that never ran holds what it was given: it lets go of it only by running.
        if (!hasBegun) await iterator.next();
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** The answer has begun, so what went wrong is said as one more event. */
function formatError(error: unknown): string {
  return formatEvent({ data: { type: "error", ...sayFault(error) } });
}

export function formatEvent({ id, data, text }: StreamItem<unknown>): string {
  const type =
    typeof data === "object" && data !== null && "type" in data ? `event: ${data.type}\n` : "";
  // As it was written; but a line end, which JSON allows between its words, would end the field.
  const said = text === undefined || /[\r\n]/.test(text) ? JSON.stringify(data) : text;
  return `${id === undefined ? "" : `id: ${id}\n`}${type}data: ${said}\n\n`;
}
