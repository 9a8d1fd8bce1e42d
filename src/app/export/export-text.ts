import { PlainText } from "#contract/text/plain-text.ts";
import { OutputDecoder, type Piece } from "./export-pieces.ts";

/** The output as plain text; ends with a newline unless there is none at all. */
export async function* writeText(pieces: AsyncIterable<Piece>): AsyncGenerator<string, void, void> {
  const decoder = new OutputDecoder();
  const plain = new PlainText();
  const flush = () => {
    const lines = plain.push(decoder.flush());
    const last = plain.flush();
    return last === "" ? lines : `${lines}${last}\n`;
  };
  for await (const piece of pieces) {
    if (piece.kind === "size") continue;
    const text =
      piece.kind === "gap"
        ? `${flush()}[… ${piece.to - piece.from} bytes are no longer kept …]\n`
        : plain.push(decoder.push(piece.channel, piece.bytes));
    if (text !== "") yield text;
  }
  const rest = flush();
  if (rest !== "") yield rest;
}
