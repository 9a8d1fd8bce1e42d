import type { DocumentAnswer } from "#client/answers.ts";
import { Fault } from "#contract/fault.ts";

/** What a page holds of a file before the browser keeps it. */
const DOWNLOAD_BYTES = 512 * 1024 * 1024;

/** Hands a document to the browser's downloads. */
export async function download(answer: DocumentAnswer, fallbackName: string): Promise<void> {
  const blob = new Blob(await readParts(answer.body), { type: "application/octet-stream" });
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = answer.file_name ?? fallbackName;
  link.click();
  // The browser has taken it by the next turn.
  window.setTimeout(() => URL.revokeObjectURL(url), 0);
}

async function readParts(body: ReadableStream<Uint8Array>): Promise<BlobPart[]> {
  const parts: BlobPart[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > DOWNLOAD_BYTES)
      throw new Fault(
        "payload_too_large",
        "this is too large for a page to save; `reins export` writes it to a file",
      );
    // What fetch gives is never shared with another thread.
    parts.push(part as Uint8Array<ArrayBuffer>);
  }
  return parts;
}
