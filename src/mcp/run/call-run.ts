import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import {
  type Asking,
  answerRun,
  followUpRun,
  interruptRun,
  type Run,
  readTranscript,
  resumeRun,
  sendToRun,
} from "#tools/run-control.ts";
import {
  EVENTS,
  type RunToolInput,
  type RunToolName,
  type RunToolOutput,
  TRANSCRIPT_MESSAGES,
} from "./run-tools.ts";
import { describeMessage } from "./spoken-message.ts";

type RunHandlers = {
  readonly [N in RunToolName]: (
    input: RunToolInput<N>,
    asking: Asking,
  ) => Promise<RunToolOutput<N>>;
};

/** Of one answer, as JSON: what a model can still read. One message or event is given whole. */
const ANSWER_CHARS = limits.model_output_most_bytes;

export function createRunHandlers(run: Run): RunHandlers {
  return {
    send: ({ followup = false, framing, message }, asking) => {
      if (!followup) return sendToRun(run, { message, framing }, asking);
      if (framing !== undefined)
        throw new Fault("invalid_request", "framing: is for steering, so not with followup");
      return followUpRun(run, { message }, asking);
    },
    transcript: async ({ limit = TRANSCRIPT_MESSAGES, from }, asking) => {
      const { messages, ...rest } = await readTranscript(run, { limit, from }, asking);
      const spoken = messages.map((message) => describeMessage(message));
      return shorten({ ...rest, messages: spoken }, from === undefined);
    },
    events_since: (input, asking) => readEvents(run, input, asking),
    approve: async (input, asking) => {
      const { approval_id } = await resumeRun(run, input, asking);
      return { approval_id, decision: input.decision };
    },
    answer: async ({ action = "accept", ...input }, asking) => {
      const { elicitation_id } = await answerRun(run, { action, ...input }, asking);
      return { elicitation_id, action };
    },
    interrupt: (_input, asking) => interruptRun(run, asking),
  };
}

type Spoken = RunToolOutput<"transcript">;

/** The newest of the last ones, or the first of those that were asked for, as many as there is room for. */
function shorten(transcript: Spoken, keepsLast: boolean): Spoken {
  const { messages, position } = transcript;
  const ordered = keepsLast ? messages.toReversed() : messages;
  let room: number = ANSWER_CHARS;
  const over = ordered.findIndex((message, index) => {
    room -= JSON.stringify(message).length;
    return room < 0 && index > 0;
  });
  if (over < 0) return transcript;
  if (!keepsLast) return { ...transcript, messages: messages.slice(0, over) };
  const skipped = messages.length - over;
  return { ...transcript, messages: messages.slice(skipped), position: position + skipped };
}

async function readEvents(
  { client, session: { session_id } }: Run,
  { since, limit = EVENTS }: RunToolInput<"events_since">,
  { signal }: Asking,
): Promise<RunToolOutput<"events_since">> {
  const { events_tail } = await client.call("session.get", { session_id }, { signal });
  let next = since === "tail" ? events_tail : since;
  const asked = { session_id, since: next, follow: false };
  const events: RunToolOutput<"events_since">["events"] = [];
  let room: number = ANSWER_CHARS;
  for await (const { id = next, data } of client.stream("session.events", asked, { signal })) {
    room -= JSON.stringify(data).length;
    const isFull = events.length === limit || (room < 0 && events.length > 0);
    if (isFull) return { events, next, more: true };
    // An event is an object that came out of JSON.
    events.push(data as unknown as (typeof events)[number]);
    next = id;
  }
  return { events, next, more: false };
}
