/** A line of a program that speaks to us, or why it is none. Its newline is not part of it. */
export type RequestLine =
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "too_long" }
  | { readonly kind: "not_utf8" };

const NEWLINE = 0x0a;

/** Lines out of chunks that may end anywhere, the last one also without a newline. Holds at most one line. */
export async function* readRequestLines(
  chunks: AsyncIterable<Uint8Array>,
  { limit }: { readonly limit: number },
): AsyncGenerator<RequestLine, void, void> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  const add = (piece: Uint8Array) => {
    length += piece.length;
    // What is too long is only counted.
    if (length > limit) pieces = [];
    else pieces.push(piece);
  };
  const take = (): RequestLine => {
    const line = length > limit ? ({ kind: "too_long" } as const) : decode(pieces);
    pieces = [];
    length = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end < 0) break;
      add(chunk.subarray(start, end));
      start = end + 1;
      yield take();
    }
    add(chunk.subarray(start));
  }
  if (length > 0) yield take();
}

function decode(pieces: readonly Uint8Array[]): RequestLine {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    return { kind: "line", text: decoder.decode(Buffer.concat(pieces)) };
  } catch {
    // Whoever sent it hears so.
    return { kind: "not_utf8" };
  }
}
