import type { HistoryItem } from "#agent/state/history.ts";
import type { AgentEventOf } from "#contract/agent/events.ts";
import { asFault } from "#contract/fault.ts";
import type { WorkerOutput } from "#contract/operations/worker-requests.ts";
import { defined } from "#contract/values/defined.ts";
import type { Model, ModelChunk, ModelMessage } from "#model/model.ts";
import { cutText } from "./cut-text.ts";
import type { Actor, Stage } from "./stage.ts";

interface CompactionRequest {
  readonly cause: AgentEventOf<"compaction.started">["cause"];
  readonly instruction?: string | undefined;
}

type Compacted = WorkerOutput<"summarize">;

/** Of the context, from which on it is made smaller. */
export const FULL = 0.9;
/** Of the context, that the newest messages may keep. */
const KEPT = 0.2;
const CHARS_PER_TOKEN = 4;
const TOKENS_PER_MESSAGE = 5;
const UNKNOWN_CONTEXT = 100_000;
const SUMMARY_TOKENS = 4000;
/** Of one tool's result, for who writes the summary. */
const RESULT_BYTES = 4000;

const ASK =
  "Write a summary of the conversation above for a colleague who goes on with it and sees nothing else. Keep: what the user wants, in their words where they matter; decisions and why; what was done, with paths, names, ids and numbers; what is open; what went wrong. No greeting, no remarks about the summary.";

/**
 * Replaces the older part of a conversation by a summary. What fails leaves everything as it was, and says so.
 */
export async function compact(
  actor: Actor,
  stage: Stage,
  request: CompactionRequest,
): Promise<Compacted> {
  const model = actor.cast.model();
  const { items } = actor.conversation.context;
  const keptFrom = chooseKept(items, model.context_limit ?? UNKNOWN_CONTEXT);
  const older = keptFrom === undefined ? items : items.slice(0, keptFrom.at);
  if (older.filter(({ kind }) => kind !== "error").length < 2) {
    const message = "there is nothing yet that a summary could stand for";
    actor.emit({ type: "compaction.ended", outcome: "skipped", message });
    return { outcome: "skipped", message };
  }
  actor.emit({ type: "compaction.started", cause: request.cause });
  try {
    const writer = { actor, stage, model };
    const { summary, finish } = await writeSummary(writer, older, request.instruction);
    if (summary.trim() === "") {
      tellUsage(writer, finish);
      return fail(actor, "the model wrote an empty summary");
    }
    actor.emit({
      type: "compaction.ended",
      outcome: "applied",
      summary,
      ...defined({ kept_from: keptFrom?.message_id }),
    });
    actor.contextTokens = estimate(actor);
    // Not before: it says how full the context is now, to who looks and to the next life.
    tellUsage(writer, finish);
    return { outcome: "applied" };
  } catch (error) {
    const failed = fail(actor, asFault(error).message);
    // Who asked for it gets an answer; a turn that wanted it ends.
    if (request.cause !== "request") actor.signal.throwIfAborted();
    return failed;
  }
}

function fail(actor: Actor, message: string): Compacted {
  actor.emit({ type: "compaction.ended", outcome: "failed", message });
  return { outcome: "failed", message };
}

/** The beginning of the newest steps that fit into their share; a step begins with a user's or an agent's message. */
function chooseKept(
  items: readonly HistoryItem[],
  contextLimit: number,
): { readonly at: number; readonly message_id: string } | undefined {
  let tokens = 0;
  let kept: { at: number; message_id: string } | undefined;
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at];
    if (item === undefined) break;
    tokens += tokensOf(item);
    if (tokens > contextLimit * KEPT) break;
    if (item.kind === "user" || item.kind === "assistant")
      kept = { at, message_id: item.message_id };
  }
  // When everything would fit there, only what was asked last is kept.
  if (kept?.at !== 0) return kept;
  const at = items.findLastIndex(({ kind }) => kind === "user");
  const last = items[at];
  return last?.kind === "user" && at > 0 ? { at, message_id: last.message_id } : undefined;
}

interface Writer {
  readonly actor: Actor;
  readonly stage: Stage;
  readonly model: Model;
}
type Finish = Extract<ModelChunk, { type: "finish" }>;

function tellUsage({ actor, stage, model }: Writer, finish: Finish | undefined): void {
  if (finish === undefined) return;
  actor.emit({
    type: "usage.updated",
    ...stage.budget.describe(finish.model, finish.usage),
    context_tokens: actor.contextTokens,
    context_limit: model.context_limit,
  });
}

async function writeSummary(
  { actor, model }: Writer,
  older: readonly HistoryItem[],
  instruction: string | undefined,
): Promise<{ readonly summary: string; readonly finish: Finish | undefined }> {
  const { summary: before } = actor.conversation.context;
  const earlier = before === undefined ? [] : [`Summary of what came before:\n${before}`];
  const asked = [...earlier, ...older.map(describe), ASK, instruction ?? ""];
  const messages: ModelMessage[] = [
    { role: "system", text: "You summarize conversations between a user and an agent." },
    {
      role: "user",
      content: [{ type: "text", text: asked.filter((part) => part !== "").join("\n\n") }],
    },
  ];
  let summary = "";
  let finish: Finish | undefined;
  const request = { messages, tools: [], max_output_tokens: SUMMARY_TOKENS };
  for await (const chunk of model.stream(request, { signal: actor.signal })) {
    if (chunk.type === "retry") summary = "";
    if (chunk.type === "text_delta") summary += chunk.text;
    if (chunk.type === "finish") finish = chunk;
  }
  return { summary, finish };
}

function describe(item: HistoryItem): string {
  if (item.kind === "user")
    return `User: ${item.content.map((part) => (part.type === "text" ? part.text : "[an image]")).join(" ")}`;
  if (item.kind === "tool")
    return `Result of ${item.tool}${item.is_error ? " (an error)" : ""}: ${cutText(item.output, RESULT_BYTES)}`;
  if (item.kind !== "assistant") return "";
  const said = item.parts.map((part) => {
    if (part.type === "tool_call")
      return `[calls ${part.tool} ${cutText(JSON.stringify(part.input), RESULT_BYTES)}]`;
    return part.type === "text" ? part.text : "";
  });
  return `${item.agent}: ${said.filter((part) => part !== "").join("\n")}`;
}

/** How many tokens a conversation has, roughly; providers say it exactly after each call. */
export function estimate({ conversation, cast }: Actor): number {
  const { summary = "", items } = conversation.context;
  const fixed = (cast.instruction().length + summary.length) / CHARS_PER_TOKEN;
  return Math.ceil(items.reduce((sum, item) => sum + tokensOf(item), fixed));
}

function tokensOf(item: HistoryItem): number {
  return charsOf(item) / CHARS_PER_TOKEN + TOKENS_PER_MESSAGE;
}

/** What an image costs differs; this is in the middle. */
const IMAGE_CHARS = 4000;

function charsOf(item: HistoryItem): number {
  if (item.kind === "tool") return item.output.length + item.images.length * IMAGE_CHARS;
  if (item.kind === "user")
    return item.content.reduce(
      (sum, part) => sum + (part.type === "text" ? part.text.length : IMAGE_CHARS),
      0,
    );
  if (item.kind !== "assistant") return 0;
  return item.parts.reduce(
    (sum, part) =>
      sum + (part.type === "tool_call" ? JSON.stringify(part.input).length : part.text.length),
    0,
  );
}
