import type { AgentSnapshot, Transcript } from "#contract/agent/views.ts";
import { Fault } from "#contract/fault.ts";
import type { Queued } from "#contract/operations/agent-requests.ts";
import type { ControlInput } from "#contract/operations/control.ts";
import type { OperationCalls } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import { typeInto } from "./terminal/client-typing.ts";

/** A session that somebody steers from outside, here or behind a server. */
export interface Run {
  readonly client: OperationCalls;
  readonly session: Pick<Session, "session_id" | "kind" | "mode">;
}

export interface Asking {
  readonly signal?: AbortSignal | undefined;
}

type Sent = Queued | { readonly status: "typed" };

/** A turn may begin or end between two looks; oftener than this it is no accident. */
const SEND_ATTEMPTS = 5;

/** Steers the turn that runs, or begins one; what is no agent is typed at. */
export async function sendToRun(
  run: Run,
  input: ControlInput<"send">,
  asking: Asking = {},
): Promise<Sent> {
  const { client, session } = run;
  if (session.kind !== "agent") return await typeAt(run, input, asking);
  const { framing, idempotency_key } = input;
  const said = { ...messagesOf(session, input.message), idempotency_key };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await client.call("agent.steer", { ...said, framing }, asking);
    } catch (error) {
      if (!isCode(error, "nothing_running")) throw error;
    }
    try {
      return await client.call("agent.send", said, asking);
    } catch (error) {
      if (!isCode(error, "busy") || attempt === SEND_ATTEMPTS) throw error;
    }
  }
}

/** Waits for the end of the turn; without one it begins a turn at once. */
export async function followUpRun(
  { client, session }: Run,
  { message, idempotency_key }: ControlInput<"followup">,
  asking: Asking = {},
): Promise<Queued> {
  const said = { ...messagesOf(session, message), idempotency_key };
  return await client.call("agent.followup", said, asking);
}

export async function resumeRun(
  { client, session: { session_id } }: Run,
  { approval_id: named, decision = "approve", ...more }: ControlInput<"resume">,
  asking: Asking = {},
): Promise<{ readonly approval_id: string }> {
  const find = async () => {
    const { approvals } = await client.call("agent.snapshot", { session_id }, asking);
    return chooseOnly(
      "approval_id",
      approvals.map(({ approval_id }) => approval_id),
    );
  };
  const approval_id = named ?? (await find());
  await client.call("agent.resume", { session_id, approval_id, decision, ...more }, asking);
  return { approval_id };
}

export async function answerRun(
  { client, session: { session_id } }: Run,
  { elicitation_id: named, action = "accept", content }: ControlInput<"elicitation">,
  asking: Asking = {},
): Promise<{ readonly elicitation_id: string }> {
  const find = async () => {
    const { elicitations } = await client.call("agent.snapshot", { session_id }, asking);
    return chooseOnly(
      "elicitation_id",
      elicitations.map(({ elicitation_id }) => elicitation_id),
    );
  };
  const elicitation_id = named ?? (await find());
  const answer = { session_id, elicitation_id, action, content };
  await client.call("agent.elicitation", answer, asking);
  return { elicitation_id };
}

/** Whether there was something to stop. */
export async function interruptRun(
  { client, session: { session_id } }: Run,
  asking: Asking = {},
): Promise<{ readonly interrupted: boolean }> {
  const { signalled } = await client.call("session.interrupt", { session_id }, asking);
  return { interrupted: signalled > 0 };
}

export async function readTranscript(
  { client, session: { session_id } }: Run,
  page: ControlInput<"transcript">,
  asking: Asking = {},
): Promise<Transcript> {
  return await client.call("agent.transcript", { session_id, ...page }, asking);
}

interface RunStatus {
  readonly session: Session;
  /** Null for what is no agent. */
  readonly agent: Omit<AgentSnapshot, "transcript" | "omitted_messages"> | null;
}

export async function describeRun(
  { client, session: { session_id, kind } }: Run,
  asking: Asking = {},
): Promise<RunStatus> {
  const session = await client.call("session.get", { session_id }, asking);
  if (kind !== "agent") return { session, agent: null };
  const snapshot = await client.call("agent.snapshot", { session_id }, asking);
  const { transcript: _said, omitted_messages: _omitted, ...agent } = snapshot;
  return { session, agent };
}

async function typeAt(
  { client, session }: Run,
  { message, enter = true, framing, idempotency_key: input_id }: ControlInput<"send">,
  asking: Asking,
): Promise<Sent> {
  if (framing !== undefined)
    throw new Fault("unsupported", `framing is for agents; this session is a ${session.kind}`);
  if (message === "" && !enter)
    throw new Fault("invalid_request", "message: there is nothing to type");
  const typed = { text: message, keys: [], enter, isRaw: !enter, input_id };
  await typeInto(client, session, { ...typed, signal: asking.signal });
  return { status: "typed" };
}

function messagesOf({ session_id }: Run["session"], content: string) {
  if (content.trim() === "") throw new Fault("invalid_request", "message: the message is empty");
  return { session_id, messages: [{ content }] };
}

function chooseOnly(field: string, ids: readonly string[]): string {
  const [only, ...more] = ids;
  if (only === undefined) throw new Fault("nothing_pending", "nothing waits for such an answer");
  if (more.length === 0) return only;
  throw new Fault("invalid_request", `${field}: say which one; ${ids.join(", ")} wait`, {
    details: { [field]: ids },
  });
}

function isCode(error: unknown, code: Fault["code"]): boolean {
  return error instanceof Fault && error.code === code;
}
