import type { Clock } from "#base/clock.ts";
import { pause } from "#base/pause.ts";
import type { StopReason } from "#contract/agent/message.ts";
import type { Fault } from "#contract/fault.ts";
import { costOf, type Price } from "./catalog.ts";
import { createModelFault } from "./failure.ts";
import type { Model, ModelChunk, ModelRequest, ModelUsage } from "./model.ts";
import type { Script, ScriptStep } from "./script.ts";
import { findMismatches, lastUserText } from "./script-match.ts";
import { findStep } from "./script-position.ts";

/** What a model without a tokenizer counts. */
const CHARS_PER_TOKEN = 4;

interface ScriptedDeps {
  /** As `scripted/name`. */
  readonly id: string;
  readonly clock: Clock;
  readonly context_limit?: number | undefined;
  readonly price?: Price | undefined;
}

/** A model that says what a script tells it to; see `script-position.ts` for which step comes when. */
export function createScriptedModel(script: Script, deps: ScriptedDeps): Model {
  const played = new Set<number>();
  return createPlayedModel(deps, (request) => {
    const index = findStep(script, { request, model: deps.id, played });
    const step = index === undefined ? undefined : script[index];
    if (index === undefined || step === undefined) {
      throw scriptFault(deps.id, "the script has ended; there is no step for this request");
    }
    const wrong = step.expect === undefined ? [] : findMismatches(step.expect, request);
    if (wrong.length > 0) {
      throw scriptFault(deps.id, `step ${index + 1} expected something else: ${wrong.join("; ")}`);
    }
    played.add(index);
    return step;
  });
}

/** Says what the user said. */
export function createEchoModel(deps: ScriptedDeps): Model {
  return createPlayedModel(deps, (request) => ({
    deltas: splitWords(lastUserText(request.messages)),
  }));
}

function createPlayedModel(
  deps: ScriptedDeps,
  choose: (request: ModelRequest) => ScriptStep,
): Model {
  return {
    id: deps.id,
    context_limit: deps.context_limit ?? null,
    supports_images: true,
    stream: (request, { signal }) => play(choose, { ...deps, request, signal }),
  };
}

interface Play extends ScriptedDeps {
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
}

async function* play(
  choose: (request: ModelRequest) => ScriptStep,
  at: Play,
): AsyncGenerator<ModelChunk> {
  at.signal.throwIfAborted();
  const step = choose(at.request);
  await pause(at.clock, step.delay_ms ?? 0, at.signal);
  const chunks = [...chunksOf(step, at.request)];
  for (const [index, chunk] of chunks.entries()) {
    if (index > 0) await pause(at.clock, step.every_ms ?? 0, at.signal);
    // A reader may have gone between two chunks that nothing lies between.
    at.signal.throwIfAborted();
    yield chunk;
  }
  const failure = failureOf(step, at.id);
  if (failure !== undefined) throw failure;
  yield {
    type: "finish",
    model: at.id,
    stop_reason: step.stop_reason ?? stopReasonOf(step),
    usage: usageOf(step, at),
  };
}

function* chunksOf(step: ScriptStep, request: ModelRequest): Generator<ModelChunk> {
  const reasoning = typeof step.reasoning === "string" ? [step.reasoning] : step.reasoning;
  if (reasoning !== undefined) {
    for (const text of reasoning) yield { type: "reasoning_delta", key: "reasoning", text };
    yield { type: "reasoning_end", key: "reasoning" };
  }
  for (const text of piecesOf(step)) yield { type: "text_delta", text };
  for (const [index, call] of (step.tool_calls ?? []).entries()) {
    // Unlike those of the answers before it, because the history has grown.
    const key = `call_${request.messages.length}_${index}`;
    const input = call.raw === undefined ? (call.input ?? {}) : undefined;
    const raw = call.raw ?? JSON.stringify(input);
    yield { type: "call_start", key, tool: call.tool };
    yield { type: "call_delta", key, text: raw };
    // What breaks off has no whole call.
    if (step.cut === undefined) yield { type: "call_end", key, tool: call.tool, input, raw };
  }
}

function piecesOf(step: ScriptStep): readonly string[] {
  if (step.deltas !== undefined) return step.deltas;
  if (step.text === undefined) return [];
  return step.every_ms === undefined ? [step.text] : splitWords(step.text);
}

function splitWords(text: string): string[] {
  return text.match(/\s*\S+\s*|\s+/g) ?? [];
}

function failureOf(step: ScriptStep, model: string): Fault | undefined {
  if (step.cut === true) {
    return createModelFault({ cause: "unavailable", model }, "the answer broke off in the middle");
  }
  if (step.error === undefined) return undefined;
  const { message, ...failure } = step.error;
  return createModelFault({ ...failure, model }, message ?? `the script says ${failure.cause}`);
}

function scriptFault(model: string, message: string): Fault {
  return createModelFault({ cause: "script", model }, message);
}

function stopReasonOf(step: ScriptStep): StopReason {
  return step.tool_calls === undefined ? "stop" : "tool_calls";
}

function usageOf(step: ScriptStep, { request, price }: Play): ModelUsage {
  const usage = step.usage ?? {
    input_tokens: countTokens(JSON.stringify(request.messages)),
    output_tokens: countTokens(
      [step.reasoning, ...piecesOf(step), JSON.stringify(step.tool_calls)].flat().join(""),
    ),
  };
  const cost =
    price === undefined
      ? 0
      : costOf(price, {
          input: usage.input_tokens,
          cached: step.usage?.cached_input_tokens ?? 0,
          written: 0,
          output: usage.output_tokens,
        });
  return { ...usage, cost };
}

function countTokens(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}
