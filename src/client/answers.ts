import { notReins, readBytes } from "#client/transport/refusal.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { OutputRange } from "#contract/operations/reading.ts";
import type { CallName } from "#contract/operations.ts";
import { parseObject } from "#contract/values/parse-object.ts";
import { hasMark } from "./answer-marks.ts";

/** Of an answer in JSON; the largest are lists and screens. */
const JSON_BYTES = 64 * 1024 * 1024;

export async function readJson(response: Response, name: CallName): Promise<unknown> {
  const text = new TextDecoder().decode(await readBytes(response, JSON_BYTES));
  const value = parseObject(text);
  if (value === undefined || !hasMark(name, value)) throw notReins(response);
  return value;
}

/** What `/output` says in its headers, and the bytes. */
export async function readOutput(response: Response): Promise<OutputRange> {
  const { headers } = response;
  const offset = findNumber(headers, "x-reins-offset");
  const next = findNumber(headers, "x-reins-next");
  const tail = findNumber(headers, "x-reins-tail");
  const state = headers.get("x-reins-state");
  if (offset === undefined || next === undefined || tail === undefined || !isState(state))
    throw notReins(response);
  const bytes = await readBytes(response, limits.output_range_bytes);
  if (next - offset < bytes.length)
    throw new Fault("internal", "the answer holds more bytes than it says");
  // Older servers say it of every range of a session that has ended.
  const final = headers.get("x-reins-final") === "1" && next >= tail;
  return { offset, next, tail, gap: findGap(headers), state, final, bytes };
}

/** A file on its way; who does not want all of it cancels the body. */
export interface DocumentAnswer {
  readonly media_type: string;
  readonly file_name: string | undefined;
  readonly body: ReadableStream<Uint8Array>;
}

export function readDocument(response: Response): DocumentAnswer {
  const { headers } = response;
  const file_name = /filename="([^"]+)"/.exec(headers.get("content-disposition") ?? "")?.[1];
  const media_type = headers.get("content-type") ?? "application/octet-stream";
  // What fetch gives is bytes; only a bodiless answer has none.
  const body = (response.body ?? new Blob([]).stream()) as ReadableStream<Uint8Array>;
  return { media_type, file_name, body };
}

function findNumber(headers: Headers, name: string): number | undefined {
  const text = headers.get(name);
  return text !== null && /^\d{1,16}$/.test(text) ? Number(text) : undefined;
}

function findGap(headers: Headers): OutputRange["gap"] {
  const found = /^(\d{1,16})-(\d{1,16})$/.exec(headers.get("x-reins-gap") ?? "");
  return found === null ? null : { from: Number(found[1]), to: Number(found[2]) };
}

function isState(text: string | null): text is OutputRange["state"] {
  return text === "starting" || text === "running" || text === "exited" || text === "lost";
}
