import type { RequestId, Transport } from "@modelcontextprotocol/client";

/** What a request is answered with whose answer will not come any more. */
export const CUT_OFF = "cut off its answer; what was asked for may have been done";
/** Of servers and clients, as they like. */
const CUT_OFF_CODE = -32000;

/**
 * Over HTTP each request has a stream for its answer, and when that is cut off before, nobody tells who waits. This
 * does, with an answer of our own.
 */
export function answerCutStreams(transport: Transport): void {
  const open = new Set<RequestId>();
  const send = transport.send.bind(transport);
  // Who connects the transport later calls this one first.
  transport.onmessage = (message) => {
    if (!("method" in message) && message.id !== undefined) open.delete(message.id);
  };
  transport.send = async (message, options) => {
    const id = "method" in message && "id" in message ? message.id : undefined;
    // A stream that somebody watches is for more than an answer.
    if (id === undefined || options?.onRequestStreamEnd !== undefined) {
      await send(message, options);
      return;
    }
    open.add(id);
    const onRequestStreamEnd = () => {
      if (!open.delete(id)) return;
      const error = { code: CUT_OFF_CODE, message: CUT_OFF };
      transport.onmessage?.({ jsonrpc: "2.0", id, error });
    };
    try {
      await send(message, { ...options, onRequestStreamEnd });
    } catch (error) {
      open.delete(id);
      throw error;
    }
  };
}
