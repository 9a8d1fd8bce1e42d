import type { Readable } from "node:stream";
import { limits } from "#contract/limits.ts";

const NEWLINE = 0x0a;
/** A request is at most a body with what stands around it. */
const LINE_BYTES = 4 * limits.body_bytes;

/** The lines of a stream. One that is too long is passed over. */
export async function* readLines(stream: Readable): AsyncGenerator<string, void, void> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    let rest: Buffer = chunk;
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      const isWhole = bytes + end <= LINE_BYTES;
      if (isWhole) yield Buffer.concat([...parts, rest.subarray(0, end)]).toString("utf8");
      parts = [];
      bytes = 0;
      rest = rest.subarray(end + 1);
    }
    bytes += rest.length;
    if (bytes <= LINE_BYTES) parts.push(rest);
    else parts = [];
  }
}
