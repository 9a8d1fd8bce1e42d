import type { Client } from "#client/client.ts";
import { type CastEvent, type CastHeader, CastParser } from "./cast.ts";

/** Of what is fetched; it is all kept, to go back and forth in it. */
export const RECORDING_BYTES_MOST = 64 * 1024 * 1024;

export interface Recording {
  readonly header: CastHeader;
  readonly events: readonly CastEvent[];
  /** It went on beyond what a page keeps. */
  readonly isCut: boolean;
  /** Lines that were none. */
  readonly skipped: number;
}

interface LoadOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (bytes: number) => void;
}

/** A session's recording as far as there is one now. */
export async function loadRecording(
  client: Pick<Client, "document">,
  sessionId: string,
  { signal, onProgress }: LoadOptions,
): Promise<Recording> {
  const input = { session_id: sessionId, format: "asciicast" } as const;
  const { body } = await client.document("session.export", input, { signal });
  const parser = new CastParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let bytes = 0;
  let isCut = false;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    parser.push(decoder.decode(value, { stream: true }));
    onProgress(bytes);
    if (bytes < RECORDING_BYTES_MOST) continue;
    isCut = true;
    await reader.cancel();
    break;
  }
  // What was cut in the middle of a line is no line.
  if (!isCut) parser.end();
  const { header, events, skipped } = parser;
  if (header === undefined) throw new Error("the server sent what is no recording");
  return { header, events, isCut, skipped };
}
