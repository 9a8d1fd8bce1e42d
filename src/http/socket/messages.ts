import type { RawData } from "ws";
import { parseJson } from "#contract/parse.ts";
import type { Outbox } from "./outbox.ts";
import type { Handshaken } from "./socket-plan.ts";

/** Of one peer, under way at once. Beyond it nothing more is read from the peer until some are answered. */
const MESSAGES_UNDER_WAY = 256;

/**
 * Hands each message over as it comes, without waiting for the one before: what the host is asked reaches it in order
 * anyway. `serve` answers for itself and never rejects. A peer that does not take its answers is not read either, and
 * what it sends after its token was revoked is dropped.
 */
export function onMessages(
  { socket, visit }: Pick<Handshaken, "socket" | "visit">,
  outbox: Pick<Outbox, "isOverfull" | "drained">,
  serve: (bytes: Buffer, isBinary: boolean) => Promise<void>,
): void {
  let underWay = 0;
  let isWaiting = false;
  const readOrWait = () => {
    const mustWait = underWay >= MESSAGES_UNDER_WAY || outbox.isOverfull;
    if (mustWait === isWaiting) return;
    isWaiting = mustWait;
    if (mustWait) socket.pause();
    else socket.resume();
  };
  socket.on("message", (data, isBinary) => {
    if (!visit.isValid()) return;
    underWay += 1;
    readOrWait();
    void serve(toBuffer(data), isBinary).finally(() => {
      underWay -= 1;
      readOrWait();
    });
  });
  outbox.drained.on(readOrWait);
  // A frame that is too big or none at all: ws closes with the code for it.
  socket.on("error", () => undefined);
}

export function parseFrame(bytes: Buffer): unknown {
  return parseJson(bytes.toString("utf8"), "the frame");
}

function toBuffer(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
