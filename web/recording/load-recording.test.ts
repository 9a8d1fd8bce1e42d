import { expect, test } from "vitest";
import type { Client } from "#client/client.ts";
import { loadRecording, RECORDING_BYTES_MOST } from "./load-recording.ts";

const HEADER = '{"version":2,"width":80,"height":24}\n';

test("reads what comes piece by piece, and says how far it is", async () => {
  const seen: number[] = [];
  const text = `${HEADER}[1,"o","€"]\n`;
  const bytes = new TextEncoder().encode(text);
  const pieces = [...bytes].map((byte) => Uint8Array.of(byte));
  const recording = await load(pieces, (at) => seen.push(at));
  expect(recording).toMatchObject({ events: [{ text: "€" }], isCut: false, skipped: 0 });
  expect(seen.at(-1)).toBe(bytes.length);
});

test("what is longer than a page keeps is cut, and said to be", async () => {
  const line = new TextEncoder().encode(`[1,"o","${"x".repeat(1024 * 1024)}"]\n`);
  let made = 0;
  const pieces = function* () {
    yield new TextEncoder().encode(HEADER);
    // The last piece is one without the end of its line.
    for (; ; made += 1) {
      yield line.subarray(0, -3);
      yield line.subarray(-3);
    }
  };
  const recording = await load(pieces());
  expect(recording).toMatchObject({ isCut: true, skipped: 0 });
  expect(made).toBeLessThanOrEqual(RECORDING_BYTES_MOST / line.length + 3);
});

test("what is no recording is an error", async () => {
  await expect(load([new TextEncoder().encode("<html>\n")])).rejects.toThrow(/no recording/);
});

function load(pieces: Iterable<Uint8Array>, onProgress: (bytes: number) => void = () => undefined) {
  const iterator = pieces[Symbol.iterator]();
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const { done, value } = iterator.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
  // Only this one is called.
  const client = {
    document: () => Promise.resolve({ media_type: "", file_name: undefined, body }),
  } as unknown as Pick<Client, "document">;
  return loadRecording(client, "ses_a", { signal: new AbortController().signal, onProgress });
}
