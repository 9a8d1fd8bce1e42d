import type { Clock } from "#base/clock.ts";
import { asFault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { StreamItem } from "#contract/operations.ts";

export interface EventStreamOptions {
  readonly clock: Clock;
  /** Called when the reader has gone or everything was said. */
  readonly onEnd: () => void;
}

const HEARTBEAT = ": alive\n\n";

/**
 * Server-sent events. The next item is asked for when the reader has taken the last one, so a slow reader costs one
 * item; a comment now and then keeps what stands between from closing a quiet stream.
 */
export function eventStream(
  items: AsyncIterable<StreamItem<unknown>>,
  { clock, onEnd }: EventStreamOptions,
): ReadableStream<Uint8Array> {
  const iterator = items[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let heartbeat: Disposable | undefined;
  const end = () => {
    heartbeat?.[Symbol.dispose]();
    onEnd();
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const beat = () => {
          controller.enqueue(encoder.encode(HEARTBEAT));
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
        } catch (error) {
          // The answer has begun, so what went wrong is said as one more event.
          const { code, message } = asFault(error);
          controller.enqueue(
            encoder.encode(formatEvent({ data: { type: "error", code, message } })),
          );
        }
        end();
        controller.close();
      },
      async cancel() {
        end();
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

export function formatEvent({ id, data }: StreamItem<unknown>): string {
  const type =
    typeof data === "object" && data !== null && "type" in data ? `event: ${data.type}\n` : "";
  return `${id === undefined ? "" : `id: ${id}\n`}${type}data: ${JSON.stringify(data)}\n\n`;
}
