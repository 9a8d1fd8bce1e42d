import { VtScanner } from "./vt-scanner.ts";

/**
 * Takes out of history what asks the terminal for an answer. Replayed to a real terminal, old questions would be
 * answered again, and the answers typed into whatever runs now.
 */
export class QueryFilter {
  #out: Uint8Array[] = [];
  readonly #scanner = new VtScanner({
    plain: (bytes) => void this.#out.push(bytes),
    sequence: (bytes) => {
      if (!isQuery(Buffer.from(bytes).toString("latin1"))) this.#out.push(bytes);
    },
  });

  push(chunk: Uint8Array): Uint8Array {
    this.#out = [];
    this.#scanner.push(chunk);
    return Buffer.concat(this.#out);
  }

  /** The beginning of a sequence whose rest has not come. */
  end(): Uint8Array {
    this.#out = [];
    this.#scanner.end();
    return Buffer.concat(this.#out);
  }
}

const QUERIES: readonly RegExp[] = [
  // Enquiry, and the oldest form of device attributes.
  /\x05/,
  /^\x1bZ$/,
  // Device attributes; status, cursor position and their private forms; terminal parameters.
  /^\x1b\[[>=]?0*c$/,
  /^\x1b\[[?]?[\d;]*n$/,
  /^\x1b\[[01]?x$/,
  // Mode requests, keyboard protocols, version, checksum of a rectangle, presentation state.
  /^\x1b\[[?]?\d*\$p$/,
  /^\x1b\[\?u$/,
  /^\x1b\[\?[\d;]*m$/,
  /^\x1b\[>[\d;]*q$/,
  /^\x1b\[[\d;]*\*y$/,
  /^\x1b\[[\d;]*\$[uw]$/,
  // What pictures may be, the stack of colours, the rendition of a rectangle.
  /^\x1b\[\?[\d;]*S$/,
  /^\x1b\[#R$/,
  /^\x1b\[[\d;]*#\|$/,
  // Window reports.
  /^\x1b\[(?:11|13|14|15|16|18|19|20|21)(?:;\d*)*t$/,
  // Colours, the clipboard, anything whose value is a question mark. Some terminals need no end of it.
  /^\x1b\](?:[^\x07\x1b]*;)?\?(?:;[^\x07\x1b]*)?(?:\x07|\x1b\\)?$/,
  /^\x1b\]1337;(?:Report|Request|Capabilities)/,
  // Settings and capabilities.
  /^\x1bP(?:[\d;]*)[$+]q/,
  // A picture protocol's own question.
  /^\x1b_G[^;]*a=q/,
];

/** Control characters that a terminal obeys in the midst of a sequence without leaving it. */
const INSIDE_CSI = /[\x00-\x04\x06-\x17\x19\x1c-\x1f\x7f]/g;

function isQuery(sequence: string): boolean {
  const bare = sequence.startsWith("\x1b[") ? sequence.replace(INSIDE_CSI, "") : sequence;
  return QUERIES.some((query) => query.test(bare));
}
