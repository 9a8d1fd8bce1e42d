import type { AgentEvent, AgentEventOf } from "#contract/agent/events.ts";
import { findOpenAnswer } from "#contract/conversation/answers.ts";
import { listOpenCalls } from "#contract/conversation/calls.ts";
import { applyEvent, openConversation } from "#contract/conversation/conversation.ts";
import type { AnswerItem, Conversation } from "#contract/conversation/items.ts";
import { findItem } from "#contract/conversation/thread.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import { defined } from "#contract/values/defined.ts";
import type { AssistantPart } from "#model/model.ts";
import type { HistoryItem } from "./history.ts";

/** A call that has no result yet. */
export interface OpenCall {
  readonly call_id: string;
  readonly tool: string;
  readonly input: unknown;
}

/**
 * All messages of one conversation, the session's own or a sub-agent's, with everything that a model wants back. The
 * shared reducer decides which events become messages; it keeps only the newest ones.
 */
export class ModelHistory {
  readonly items: HistoryItem[] = [];
  #talk = openConversation;
  /** The parts of the open answer that have ended. */
  #parts: AssistantPart[] = [];
  #contextFrom = 0;
  #summary: string | undefined;

  get talk(): Conversation {
    return this.#talk;
  }

  /** What the model is to see: the summary, if there is one, and the messages that it does not replace. */
  get context(): { readonly summary: string | undefined; readonly items: readonly HistoryItem[] } {
    const items = this.items.slice(this.#contextFrom);
    return { summary: this.#summary, items: items.filter(({ kind }) => kind !== "summary") };
  }

  get openCalls(): readonly OpenCall[] {
    return listOpenCalls(this.#talk.main).map(({ key: call_id, tool, input }) => ({
      ...{ call_id, tool, input },
    }));
  }

  get answer(): AnswerItem | undefined {
    return findOpenAnswer(this.#talk.main);
  }

  get parts(): readonly AssistantPart[] {
    return this.#parts;
  }

  apply(event: AnyEvent): void {
    const { total } = this.#talk;
    this.#talk = applyEvent(this.#talk, event);
    if ("subagent_id" in event && event.subagent_id !== undefined) return;
    if (this.#talk.total > total) this.#add(event as AgentEvent);
    else this.#collect(event);
  }

  #collect(event: AnyEvent): void {
    if (event.type === "message.start") this.#parts = [];
    else if (event.type === "reasoning.end")
      this.#parts.push(withMetadata({ type: "reasoning", text: event.text }, event));
    else if (event.type === "tool.call.end") {
      const { call_id, tool, input } = event;
      this.#parts.push(withMetadata({ type: "tool_call", call_id, tool, input }, event));
    }
  }

  /** The event became a message. */
  #add(event: AgentEvent): void {
    switch (event.type) {
      case "message.user": {
        const { message_id, at, content, origin, framing = "plain" } = event;
        this.items.push({ kind: "user", message_id, at, content, origin, framing });
        break;
      }
      case "message.end":
        this.#addAnswer(event);
        break;
      case "tool.result": {
        const { call_id, tool, at, output, is_error, images = [] } = event;
        this.items.push({ kind: "tool", call_id, tool, at, output, is_error, images });
        break;
      }
      case "error": {
        const { at, code, message } = event;
        this.items.push({ kind: "error", at, code, message });
        break;
      }
      case "compaction.ended":
        this.#compact(event);
        break;
      default:
    }
  }

  #addAnswer(event: AgentEventOf<"message.end">): void {
    const { message_id, interrupted = false, text, model, stop_reason } = event;
    const { at, agent } = findItem(this.#talk.main, "answer", message_id) ?? {
      at: event.at,
      agent: "",
    };
    const of = (type: AssistantPart["type"]) => this.#parts.filter((part) => part.type === type);
    const spoken: AssistantPart[] =
      text === "" ? [] : [withMetadata({ type: "text", text }, event)];
    const parts = interrupted ? spoken : [...of("reasoning"), ...spoken, ...of("tool_call")];
    this.items.push({
      ...{ kind: "assistant", message_id, at, agent, model, parts, stop_reason, interrupted },
    });
  }

  #compact({ summary = "", kept_from, at }: AgentEventOf<"compaction.ended">): void {
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
  return { ...part, ...defined({ provider_metadata }) };
}
