import type { OpenCall } from "#agent/state/model-history.ts";
import type { FoundTool } from "#agent/toolbox.ts";
import type { ToolCall, ToolContext, ToolOutcome } from "#agent/toolset.ts";
import type { AgentEventOf } from "#contract/agent/events.ts";
import type { MessagePart } from "#contract/agent/message.ts";
import { asFault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { defined } from "#contract/values/defined.ts";
import { isObject } from "#contract/values/is-object.ts";
import { cutText } from "./cut-text.ts";
import { delegationTools, isDelegation, runDelegation } from "./delegation.ts";
import type { Actor, Stage } from "./stage.ts";

/** How long a tool may take to clear up behind an interrupt; then it is left to itself. */
const CLEAR_UP_MS = 5000;
/** A larger image goes to a file of its own. */
const INLINE_IMAGE_CHARS = 64 * 1024;

const INTERRUPTED = "The user interrupted this call; what it had begun may be half done.";
const NOT_RUN = "This call was not made: the user interrupted the turn first.";
const NO_OUTPUT = "(no output)";

/**
 * Makes the calls that an answer asked for, and gives each exactly one result, whatever happens. Neighbours that only
 * read, or that send sub-agents out, run at once; the others one after the other.
 */
export async function runCalls(actor: Actor, stage: Stage): Promise<void> {
  for (const batch of batchesOf(actor)) {
    // A result that cannot be written ends the turn, but not before those beside it have theirs.
    const ended = await Promise.allSettled(batch.map((call) => runCall(call, actor, stage)));
    for (const each of ended) if (each.status === "rejected") throw each.reason;
  }
}

/** Results for calls that will not be made. */
export function refuseCalls(actor: Actor, output: string): void {
  for (const { call_id, tool } of actor.conversation.openCalls)
    actor.emit({ type: "tool.result", call_id, tool, output, is_error: true });
}

interface CallableTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: FoundTool["tool"]["input_schema"];
  readonly hints: FoundTool["tool"]["hints"];
  readonly polling: boolean;
  readonly toolset: string;
}

/** Everything that the actor's agent may call. */
export function listTools({ cast }: Pick<Actor, "cast">): readonly CallableTool[] {
  const own = cast.toolbox.tools().map(({ tool, toolset }) => ({
    ...tool,
    polling: tool.polling ?? false,
    toolset: toolset.name,
  }));
  const names = new Set(own.map(({ name }) => name));
  const implied = delegationTools(cast.definition).filter(({ name }) => !names.has(name));
  return [...own, ...implied.map((tool) => ({ ...tool, toolset: "team" }))];
}

function batchesOf(actor: Actor): OpenCall[][] {
  const tools = new Map(listTools(actor).map((tool) => [tool.name, tool]));
  const isFree = ({ tool }: OpenCall) => tools.get(tool)?.hints.read_only === true;
  const batches: OpenCall[][] = [];
  for (const call of actor.conversation.openCalls) {
    const last = batches.at(-1);
    const [first] = last ?? [];
    if (last !== undefined && first !== undefined && isFree(first) && isFree(call)) last.push(call);
    else batches.push([call]);
  }
  return batches;
}

async function runCall(open: OpenCall, actor: Actor, stage: Stage): Promise<void> {
  const { call_id, tool } = open;
  const isOwn = actor.subagent_id === undefined;
  if (isOwn) stage.inFlight.add(call_id);
  let outcome: ToolOutcome;
  try {
    outcome = actor.signal.aborted ? refuse(NOT_RUN) : await tryCall(open, actor, stage);
  } catch (error) {
    if (!actor.signal.aborted && asFault(error).code === "internal")
      stage.ports.log.error("a tool failed", { tool, error });
    outcome = actor.signal.aborted ? refuse(INTERRUPTED) : refuse(describeFailure(error));
  }
  stage.inFlight.delete(call_id);
  actor.emit(describeResult({ call_id, tool }, outcome, stage));
}

async function tryCall(open: OpenCall, actor: Actor, stage: Stage): Promise<ToolOutcome> {
  const { call_id, tool } = open;
  const known = listTools(actor).find(({ name }) => name === tool);
  if (known === undefined) return refuse(describeUnknown(tool, actor));
  if (!isObject(open.input))
    return refuse("The input of this call is no JSON object, or is larger than 512 KiB.");
  const permitted = await askPermission({ call_id, tool, input: open.input }, known, {
    actor,
    stage,
  });
  if ("refused" in permitted) return refuse(permitted.refused);
  // Somebody may have said yes and then stopped everything.
  if (actor.signal.aborted) return refuse(NOT_RUN);
  const { call, context } = permitted;
  const outcome = await withGrace(execute(call, actor, stage), actor, stage);
  const { hooks } = actor.cast;
  const after = await hooks.afterTool(call, outcome, actor.signal);
  actor.stopped ??= after.stop;
  const added = [...context, ...after.context];
  return added.length === 0
    ? outcome
    : { ...outcome, output: [outcome.output, ...added].join("\n\n") };
}

interface Place {
  readonly actor: Actor;
  readonly stage: Stage;
}
type Permitted =
  | { readonly refused: string }
  | { readonly call: ToolCall; readonly context: readonly string[] };

/** Hooks first, because they may change the call; what was decided before a worker was parked is not asked again. */
async function askPermission(
  asked: ToolCall,
  { hints }: CallableTool,
  { actor, stage }: Place,
): Promise<Permitted> {
  const pending = stage.fold.talk.approvals.find(({ call_id }) => call_id === asked.call_id);
  if (pending !== undefined && isObject(pending.input))
    return await askPerson({ ...asked, input: pending.input }, pending.message, { actor, stage });
  const hooked = await actor.cast.hooks.beforeTool(asked, actor.signal);
  actor.stopped ??= hooked.stop;
  if (hooked.blocked !== undefined)
    return { refused: `A hook blocked this call: ${hooked.blocked}` };
  const call = { ...asked, input: hooked.input ?? asked.input };
  const { context } = hooked;
  const decided = stage.permissions.decide({ ...call, hints }, hooked.decision);
  if (decided.kind === "deny") return { refused: `This call is not allowed: ${decided.because}` };
  if (decided.kind === "allow") return { call, context };
  const message = `Approval needed: ${decided.because}.`;
  const answered = await askPerson(call, message, { actor, stage });
  return "refused" in answered ? answered : { ...answered, context };
}

async function askPerson(
  call: ToolCall,
  message: string,
  { actor, stage }: Place,
): Promise<Permitted> {
  const { call_id, tool } = call;
  // What came as JSON is JSON.
  const input = call.input as AgentEventOf<"approval.requested">["input"];
  const { decision, reason, by } = await stage.questions.approve(
    { kind: "tool", call_id, tool, input, message },
    actor,
  );
  if (decision !== "reject") return { call, context: [] };
  if (by === "interrupt") return { refused: NOT_RUN };
  if (by === "headless")
    return { refused: `This call was not run, because no user can approve it. ${message}` };
  const why = reason?.trim() ?? "";
  return {
    refused: why === "" ? "The user rejected this call." : `The user rejected this call: ${why}`,
  };
}

function execute(call: ToolCall, actor: Actor, stage: Stage): Promise<ToolOutcome> {
  const { call_id, tool } = call;
  // A server may call a tool of its own by one of the team's names: then that one is listed, and that one is meant.
  const found = actor.cast.toolbox.find(tool);
  if (found === undefined && isDelegation(tool)) return runDelegation(call, actor, stage);
  if (found === undefined) return Promise.resolve(refuse(describeUnknown(tool, actor)));
  const context: ToolContext = {
    signal: actor.signal,
    report: (text) =>
      actor.emit({ type: "tool.output", call_id, tool, text: cutText(text, REPORT_BYTES) }),
    elicit: (question) => stage.questions.elicit({ ...question, call_id }, actor),
  };
  return found.toolset.call(call, context);
}

/** What a tool says while it works, at once. */
const REPORT_BYTES = 16 * 1024;

/** An interrupted tool has a moment to end what it started. */
async function withGrace(
  running: Promise<ToolOutcome>,
  { signal }: Actor,
  { ports }: Stage,
): Promise<ToolOutcome> {
  const { promise, resolve } = Promise.withResolvers<ToolOutcome>();
  let timer: Disposable | undefined;
  const giveUp = () => {
    timer ??= ports.clock.timer(CLEAR_UP_MS, () => resolve(refuse(INTERRUPTED)));
  };
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    const outcome = await Promise.race([running, promise]);
    return signal.aborted ? { ...refuse(INTERRUPTED), output: joinInterrupted(outcome) } : outcome;
  } finally {
    signal.removeEventListener("abort", giveUp);
    timer?.[Symbol.dispose]();
    // Left to itself it may still fail, and nobody waits for it any more.
    running.catch(() => undefined);
  }
}

function joinInterrupted({ output }: ToolOutcome): string {
  return output === "" || output === INTERRUPTED ? INTERRUPTED : `${INTERRUPTED}\n\n${output}`;
}

function describeResult(
  { call_id, tool }: Pick<OpenCall, "call_id" | "tool">,
  { output, is_error = false, images = [], state }: ToolOutcome,
  { ports }: Stage,
) {
  const kept = images.map((image) => keepImage(image, ports.blobs));
  return {
    type: "tool.result" as const,
    call_id,
    tool,
    output: output === "" ? NO_OUTPUT : cutText(output, limits.tool_result_bytes),
    is_error,
    ...(kept.length === 0 ? {} : { images: kept }),
    ...defined({ state }),
  };
}

export function keepImage(part: MessagePart, blobs: Stage["ports"]["blobs"]): MessagePart {
  if (part.type !== "image" || part.data_b64 === undefined) return part;
  if (part.data_b64.length <= INLINE_IMAGE_CHARS) return part;
  return { type: "image", media_type: part.media_type, blob: blobs.put(part.data_b64) };
}

function refuse(output: string): ToolOutcome {
  return { output, is_error: true };
}

function describeFailure(error: unknown): string {
  const fault = asFault(error);
  return fault.code === "internal"
    ? `The tool failed: ${fault.message}`
    : `${fault.code}: ${fault.message}`;
}

function describeUnknown(tool: string, actor: Actor): string {
  const names = listTools(actor).map(({ name }) => name);
  return `There is no tool ${JSON.stringify(tool)}. You have: ${names.join(", ") || "none"}.`;
}
