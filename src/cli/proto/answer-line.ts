import { asFault, Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { type ControlName, controlRequests, isControlName } from "#contract/operations/control.ts";
import { parseJson, parseRequest } from "#contract/parse.ts";
import { defined } from "#contract/values/defined.ts";
import {
  answerRun,
  describeRun,
  followUpRun,
  interruptRun,
  type Run,
  readTranscript,
  resumeRun,
  sendToRun,
} from "#tools/run-control.ts";
import type { RequestLine } from "./request-lines.ts";

/** Of one request, its newline not counted. */
export const LINE_BYTES = limits.frame_bytes;

/** What is written for a request: one line, with its id if it had one. */
export type Reply = Readonly<Record<string, unknown>> & {
  readonly type: "ack" | "error" | "transcript" | "status";
};

type RequestId = string | number;
type Fields = Readonly<Record<string, unknown>>;

/** Exactly one reply, whatever the line holds; undefined for a blank one, which is no request. */
export async function answerLine(
  run: Run,
  line: RequestLine,
  signal: AbortSignal,
): Promise<Reply | undefined> {
  if (line.kind === "line" && line.text.trim() === "") return undefined;
  let id: RequestId | undefined;
  try {
    const { id: said, type, ...input } = parseLine(line);
    id = parseId(said);
    const name = parseName(type);
    return { ...defined({ id }), ...(await answer(run, { name, input, signal })) };
  } catch (error) {
    return describeError(signal.aborted ? signal.reason : error, id);
  }
}

interface Request {
  readonly name: ControlName;
  readonly input: Fields;
  readonly signal: AbortSignal;
}

async function answer(run: Run, { name, input, signal }: Request): Promise<Reply> {
  const asking = { signal };
  switch (name) {
    case "send":
      return {
        type: "ack",
        ...(await sendToRun(run, parseRequest(controlRequests.send, input), asking)),
      };
    case "followup":
      return {
        type: "ack",
        ...(await followUpRun(run, parseRequest(controlRequests.followup, input), asking)),
      };
    case "resume":
      return {
        type: "ack",
        ...(await resumeRun(run, parseRequest(controlRequests.resume, input), asking)),
      };
    case "elicitation":
      return {
        type: "ack",
        ...(await answerRun(run, parseRequest(controlRequests.elicitation, input), asking)),
      };
    case "interrupt":
      parseRequest(controlRequests.interrupt, input);
      return { type: "ack", ...(await interruptRun(run, asking)) };
    case "transcript":
      return {
        type: "transcript",
        ...(await readTranscript(run, parseRequest(controlRequests.transcript, input), asking)),
      };
    case "status":
      parseRequest(controlRequests.status, input);
      return { type: "status", ...(await describeRun(run, asking)) };
  }
}

function parseLine(line: RequestLine): Fields {
  if (line.kind === "too_long") {
    const sentence = `a line has at most ${LINE_BYTES} bytes; this one was not read`;
    throw new Fault("payload_too_large", sentence, { details: { limit: LINE_BYTES } });
  }
  if (line.kind === "not_utf8") throw new Fault("invalid_request", "the line is not valid UTF-8");
  const value = parseJson(line.text, "the line");
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    // Any object that JSON makes has string keys and nothing known about its values.
    return value as Fields;
  throw new Fault("invalid_request", 'a request is an object such as {"id":1,"type":"status"}');
}

function parseId(id: unknown): RequestId | undefined {
  // Of other numbers not all digits would come back.
  if (id === undefined || Number.isSafeInteger(id)) return id as number | undefined;
  if (typeof id === "string" && id.length <= limits.label_chars) return id;
  throw new Fault(
    "invalid_request",
    `id: must be a whole number or a text of at most ${limits.label_chars} characters`,
  );
}

function parseName(type: unknown): ControlName {
  if (isControlName(type)) return type;
  const known = Object.keys(controlRequests).join(", ");
  const what = type === undefined ? "there is no type" : "there is no such request";
  throw new Fault("invalid_request", `type: ${what}; known are ${known}`);
}

function describeError(error: unknown, id: RequestId | undefined): Reply {
  const { code, message, details } = asFault(isLate(error) ? tooLate(error) : error);
  const more = Object.keys(details).length === 0 ? {} : { details };
  return { ...defined({ id }), type: "error", code, message, ...more };
}

function isLate(error: unknown): boolean {
  return error instanceof DOMException && error.name === "TimeoutError";
}

function tooLate(cause: unknown): Fault {
  const sentence = "no answer came in time; whether it was done is not known";
  return new Fault("host_unavailable", sentence, { cause });
}
