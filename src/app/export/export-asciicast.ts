import { OutputDecoder, type Piece } from "./export-pieces.ts";

interface CastHeader {
  readonly cols: number;
  readonly rows: number;
  /** Wall time at which the recording begins. */
  readonly epoch_ms: number;
  readonly title: string;
  /** Pipes have no terminal that would put the carriage return before a line feed. */
  readonly isPipe: boolean;
}

/**
 * A recording in asciicast v2, which every player reads: a header, then one event a line, `[seconds, kind, text]`.
 * Output is `o`, a new size `r`, a range that is no longer kept a marker `m`. What was typed is not in it.
 */
export async function* writeAsciicast(
  header: CastHeader,
  pieces: AsyncIterable<Piece>,
): AsyncGenerator<string, void, void> {
  yield line({
    version: 2,
    width: header.cols,
    height: header.rows,
    timestamp: Math.floor(header.epoch_ms / 1000),
    ...(header.title === "" ? {} : { title: header.title }),
    env: { TERM: "xterm-256color" },
  });
  const decoder = new OutputDecoder();
  const toTerminal = header.isPipe ? createLineFeeds() : (text: string) => text;
  let last_ms = 0;
  const output = (at_ms: number, text: string) =>
    text === "" ? "" : event(at_ms, "o", toTerminal(text));
  for await (const piece of pieces) {
    last_ms = piece.at_ms;
    if (piece.kind === "size") yield event(last_ms, "r", `${piece.cols}x${piece.rows}`);
    else if (piece.kind === "gap")
      yield output(last_ms, decoder.flush()) +
        event(last_ms, "m", `${piece.to - piece.from} bytes are no longer kept`);
    else yield output(last_ms, decoder.push(piece.channel, piece.bytes));
  }
  yield output(last_ms, decoder.flush());
}

function event(at_ms: number, kind: "o" | "r" | "m", text: string): string {
  return line([at_ms / 1000, kind, text]);
}

function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** Puts a carriage return before each line feed that has none. */
function createLineFeeds(): (text: string) => string {
  let wasReturn = false;
  return (text) => {
    const isPaired = wasReturn && text.startsWith("\n");
    wasReturn = text.endsWith("\r");
    const rest = (isPaired ? text.slice(1) : text).replaceAll(/\r?\n/g, "\r\n");
    return isPaired ? `\n${rest}` : rest;
  };
}
