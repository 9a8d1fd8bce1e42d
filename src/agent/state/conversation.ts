import type { AgentEvent, AgentEventOf } from "#contract/agent/events.ts";
import type { AssistantPart } from "#model/model.ts";
import type { HistoryItem } from "./history.ts";

/** A call that has no result yet. */
export interface OpenCall {
  readonly call_id: string;
  readonly tool: string;
  readonly input: unknown;
}

/** The answer that a model is giving. */
export interface OpenAnswer {
  readonly message_id: string;
  readonly at: string;
  readonly agent: string;
  readonly model: string;
  text: string;
  reasoning: string;
  readonly parts: AssistantPart[];
}

/** One conversation, made from its events: the session's own, or a sub-agent's. */
export class Conversation {
  readonly items: HistoryItem[] = [];
  readonly #openCalls = new Map<string, OpenCall>();
  #answer: OpenAnswer | undefined;
  #contextFrom = 0;
  #summary: string | undefined;

  /** What the model is to see: the summary, if there is one, and what it does not stand for. */
  get context(): { readonly summary: string | undefined; readonly items: readonly HistoryItem[] } {
    const items = this.items.slice(this.#contextFrom);
    return { summary: this.#summary, items: items.filter(({ kind }) => kind !== "summary") };
  }

  get openCalls(): readonly OpenCall[] {
    return [...this.#openCalls.values()];
  }

  get answer(): OpenAnswer | undefined {
    return this.#answer;
  }

  apply(event: AgentEvent): void {
    switch (event.type) {
      case "message.user":
        this.#addUser(event);
        break;
      case "message.start":
      case "message.delta":
      case "message.end":
        this.#applyMessage(event);
        break;
      case "reasoning.delta":
        if (this.#answer !== undefined) this.#answer.reasoning += event.text;
        break;
      case "reasoning.end":
        this.#answer?.parts.push(withMetadata({ type: "reasoning", text: event.text }, event));
        break;
      case "tool.call.end":
        this.#answer?.parts.push(
          withMetadata(
            { type: "tool_call", call_id: event.call_id, tool: event.tool, input: event.input },
            event,
          ),
        );
        break;
      case "tool.result":
        this.#addResult(event);
        break;
      case "compaction.ended":
        this.#compact(event);
        break;
      case "error":
        this.items.push({
          kind: "error",
          at: event.at,
          code: event.code,
          message: event.message,
        });
        break;
      default:
    }
  }

  #addUser(event: AgentEventOf<"message.user">): void {
    const { message_id, at, content, origin, framing = "plain" } = event;
    this.items.push({ kind: "user", message_id, at, content, origin, framing });
  }

  #applyMessage(event: AgentEventOf<"message.start" | "message.delta" | "message.end">): void {
    if (event.type === "message.start") {
      const { message_id, at, agent = "", model } = event;
      this.#answer = { message_id, at, agent, model, text: "", reasoning: "", parts: [] };
      return;
    }
    const answer = this.#answer;
    if (answer?.message_id !== event.message_id) return;
    if (event.type === "message.delta") answer.text += event.text;
    else this.#endAnswer(answer, event);
  }

  /** An answer that was cut off keeps what it said; calls that it had not finished were never made. */
  #endAnswer(answer: OpenAnswer, event: AgentEventOf<"message.end">): void {
    this.#answer = undefined;
    const { interrupted = false, text, model, stop_reason } = event;
    const of = (type: AssistantPart["type"]) => answer.parts.filter((part) => part.type === type);
    const spoken: AssistantPart[] =
      text === "" ? [] : [withMetadata({ type: "text", text }, event)];
    const parts = interrupted ? spoken : [...of("reasoning"), ...spoken, ...of("tool_call")];
    if (parts.length === 0 || (interrupted && text === "")) return;
    const { message_id, at, agent } = answer;
    this.items.push({
      kind: "assistant",
      message_id,
      at,
      agent,
      model,
      parts,
      stop_reason,
      interrupted,
    });
    for (const part of parts) {
      if (part.type !== "tool_call") continue;
      const { call_id, tool, input } = part;
      this.#openCalls.set(call_id, { call_id, tool, input });
    }
  }

  #addResult(event: AgentEventOf<"tool.result">): void {
    // A result without its call would be refused by every provider.
    if (!this.#openCalls.delete(event.call_id)) return;
    const { call_id, tool, at, output, is_error, images = [] } = event;
    this.items.push({ kind: "tool", call_id, tool, at, output, is_error, images });
  }

  #compact({ outcome, summary, kept_from, at }: AgentEventOf<"compaction.ended">): void {
    if (outcome !== "applied" || summary === undefined) return;
    const kept = this.items.findIndex(
      (item) => "message_id" in item && item.message_id === kept_from,
    );
    this.items.push({ kind: "summary", at, text: summary, kept_from });
    this.#contextFrom = kept === -1 ? this.items.length : kept;
    this.#summary = summary;
  }
}

type Metadata = Pick<AgentEventOf<"message.end">, "provider_metadata">;

function withMetadata(part: AssistantPart, { provider_metadata }: Metadata): AssistantPart {
  return provider_metadata === undefined ? part : { ...part, provider_metadata };
}
