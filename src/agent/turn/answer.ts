import type { Clock } from "#base/clock.ts";
import { randomId } from "#base/random-id.ts";
import type { AgentEventBody, AgentEventOf } from "#contract/agent/events.ts";
import type { StopReason } from "#contract/agent/message.ts";
import { defined } from "#contract/values/defined.ts";
import type { Model, ModelChunk, ModelRequest, ModelUsage } from "#model/model.ts";
import { cutText } from "./cut-text.ts";
import { DeltaBuffer } from "./delta-buffer.ts";

interface AnswerDeps {
  readonly clock: Clock;
  readonly emit: (body: AgentEventBody) => void;
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly message_id: string;
  readonly model: string;
  readonly text: string;
  readonly stop_reason: StopReason;
  readonly usage: ModelUsage;
}

interface Block {
  readonly id: string;
  readonly deltas: DeltaBuffer;
  text: string;
}

/**
 * Asks a model and writes down what it says while it says it. Whatever happens, the message that was begun is ended:
 * whole, or marked as interrupted with what was said until then.
 */
export async function streamAnswer(
  model: Model,
  request: ModelRequest,
  deps: AnswerDeps,
): Promise<Answer> {
  let writer = new AnswerWriter(deps, model.id);
  try {
    for await (const chunk of model.stream(request, { signal: deps.signal })) {
      deps.signal.throwIfAborted();
      if (chunk.type === "finish") return writer.end(chunk);
      if (chunk.type !== "retry") writer.write(chunk);
      else {
        writer.discard();
        deps.emit(describeRetry(chunk));
        writer = new AnswerWriter(deps, chunk.model);
      }
    }
    throw new Error("the model's stream ended without its end");
  } catch (error) {
    writer.interrupt();
    throw error;
  }
}

function describeRetry(chunk: Extract<ModelChunk, { type: "retry" }>): AgentEventBody {
  const { failed_model, model, reason, attempt } = chunk;
  if (failed_model !== model)
    return { type: "model.fallback", failed_model, fallback_model: model, reason, attempt };
  return { type: "warning", code: "model_failed", message: `${model}: ${reason}; trying again` };
}

type Content = Exclude<ModelChunk, { type: "finish" | "retry" }>;

class AnswerWriter {
  readonly #deps: AnswerDeps;
  readonly #message_id = randomId("msg");
  readonly #model: string;
  readonly #text: Block;
  readonly #reasoning = new Map<string, Block>();
  readonly #calls = new Map<string, Block>();
  #isBegun = false;
  #isEnded = false;

  constructor(deps: AnswerDeps, model: string) {
    this.#deps = deps;
    this.#model = model;
    const message_id = this.#message_id;
    this.#text = this.#openBlock(message_id, (text) => ({
      type: "message.delta",
      message_id,
      text,
    }));
  }

  write(chunk: Content): void {
    this.#begin();
    if (chunk.type === "text_delta") this.#append(this.#text, chunk.text);
    else if (chunk.type === "reasoning_delta")
      this.#append(this.#findReasoning(chunk.key), chunk.text);
    else if (chunk.type === "reasoning_end") this.#endReasoning(chunk.key, chunk);
    else if (chunk.type === "call_start") this.#startCall(chunk);
    else if (chunk.type === "call_delta") {
      const block = this.#calls.get(chunk.key);
      if (block !== undefined) this.#append(block, chunk.text);
    } else this.#endCall(chunk);
  }

  end(chunk: Extract<ModelChunk, { type: "finish" }>): Answer {
    this.#begin();
    for (const key of this.#reasoning.keys()) this.#endReasoning(key, {});
    this.#finish({ stop_reason: chunk.stop_reason, ...metadataOf(chunk) }, this.#text.text);
    const { model, stop_reason, usage } = chunk;
    return { message_id: this.#message_id, model, text: this.#text.text, stop_reason, usage };
  }

  /** Nothing of it counts. */
  discard(): void {
    if (this.#isBegun) this.#finish({ stop_reason: "error", interrupted: true }, "");
  }

  /** What was said until now stays. */
  interrupt(): void {
    if (!this.#isBegun) return;
    this.#finish({ stop_reason: "other", interrupted: true }, this.#text.text);
  }

  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    this.#emit({ type: "message.start", message_id: this.#message_id, model: this.#model });
  }

  #finish(
    how: Pick<AgentEventOf<"message.end">, "stop_reason" | "interrupted" | "provider_metadata">,
    text: string,
  ): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#flush();
    this.#emit({
      type: "message.end",
      message_id: this.#message_id,
      model: this.#model,
      text: cutText(text, TEXT_BYTES),
      ...how,
    });
  }

  #findReasoning(key: string): Block {
    const known = this.#reasoning.get(key);
    if (known !== undefined) return known;
    const message_id = this.#message_id;
    const reasoning_id = randomId("rsn");
    this.#emit({ type: "reasoning.start", message_id, reasoning_id });
    const block = this.#openBlock(reasoning_id, (text) => ({
      type: "reasoning.delta",
      message_id,
      reasoning_id,
      text,
    }));
    this.#reasoning.set(key, block);
    return block;
  }

  #endReasoning(key: string, chunk: Metadata): void {
    const block = this.#findReasoning(key);
    this.#reasoning.delete(key);
    this.#flush();
    this.#emit({
      type: "reasoning.end",
      message_id: this.#message_id,
      reasoning_id: block.id,
      text: cutText(block.text, TEXT_BYTES),
      ...metadataOf(chunk),
    });
  }

  #startCall({ key, tool }: { readonly key: string; readonly tool: string }): Block {
    const message_id = this.#message_id;
    const call_id = randomId("cal");
    this.#flush();
    this.#emit({ type: "tool.call.start", message_id, call_id, tool });
    const block = this.#openBlock(call_id, (text) => ({
      type: "tool.call.delta",
      message_id,
      call_id,
      text,
    }));
    this.#calls.set(key, block);
    return block;
  }

  #endCall(chunk: Extract<ModelChunk, { type: "call_end" }>): void {
    const block = this.#calls.get(chunk.key) ?? this.#startCall(chunk);
    this.#calls.delete(chunk.key);
    this.#flush();
    this.#emit({
      type: "tool.call.end",
      message_id: this.#message_id,
      call_id: block.id,
      tool: chunk.tool,
      input: describeInput(chunk),
      ...metadataOf(chunk),
    });
  }

  #openBlock(id: string, describe: (text: string) => AgentEventBody): Block {
    const deltas = new DeltaBuffer(this.#deps.clock, (text) => this.#emit(describe(text)));
    return { id, deltas, text: "" };
  }

  #append(block: Block, text: string): void {
    block.text += text;
    block.deltas.add(text);
  }

  /** What was said before comes before. */
  #flush(): void {
    this.#text.deltas.flush();
    for (const block of this.#reasoning.values()) block.deltas.flush();
    for (const block of this.#calls.values()) block.deltas.flush();
  }

  #emit(body: AgentEventBody): void {
    this.#deps.emit(body);
  }
}

/** An event is a line of at most a mebibyte; nothing that a model says in earnest comes near this. */
const TEXT_BYTES = 512 * 1024;

/** It was parsed from JSON. What could not be parsed is shown as it came, and what is too long as its two ends. */
function describeInput({ input, raw }: Extract<ModelChunk, { type: "call_end" }>): Input {
  if (input === undefined) return cutText(raw, TEXT_BYTES);
  const text = JSON.stringify(input);
  return Buffer.byteLength(text) > TEXT_BYTES ? cutText(text, TEXT_BYTES) : (input as Input);
}

type Input = AgentEventOf<"tool.call.end">["input"];
type Metadata = Pick<AgentEventOf<"message.end">, "provider_metadata">;

function metadataOf({ provider_metadata }: Metadata): Metadata {
  return defined({ provider_metadata });
}
