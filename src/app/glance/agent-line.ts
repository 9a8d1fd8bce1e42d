import { readEventLines } from "#app/agent/event-lines.ts";
import { OpenQuestions } from "#app/live/open-questions.ts";
import type { Glance } from "#contract/operations/session.ts";
import { findLastLine, toPlainLine } from "#contract/text/plain-line.ts";
import type { LogReader } from "#session/session-host.ts";

/** From the end of the events; the second is for an end that is one large event, such as a tool's long answer. */
const WINDOWS_BYTES = [16 * 1024, 128 * 1024];

export interface AgentEnd extends Pick<Glance, "line" | "agent" | "model"> {
  /** Whether a turn had begun and not ended. */
  readonly isInTurn: boolean;
  readonly isAsking: boolean;
}

/** What an agent said or did last, as the end of its log tells. */
export async function readAgentEnd(events: LogReader, tail: number): Promise<AgentEnd> {
  let end = new EndOfEvents();
  for (const bytes of WINDOWS_BYTES) {
    end = new EndOfEvents();
    const from = Math.max(0, tail - bytes);
    // A part of a line is no object, so the window may begin anywhere.
    for await (const { value } of readEventLines(events, from, tail))
      if (value !== undefined) end.apply(value);
    if (end.line !== "" || from === 0) break;
  }
  return end.describe();
}

type Event = Readonly<Record<string, unknown>>;

/** What each event tells in a line; undefined = nothing that is worth more than what was told before. */
const tellers: Readonly<Record<string, (event: Event) => string | undefined>> = {
  "message.end": ({ text }) => orNothing(findLastLine(textOf(text))),
  "tool.call.end": ({ tool, input }) => `tool ${textOf(tool)} ${firstText(input)}`,
  "tool.result": ({ tool, output, is_error }) =>
    is_error === true ? `tool ${textOf(tool)} failed: ${findLastLine(textOf(output))}` : undefined,
  // What it is about says more in a line than why it is asked.
  "approval.requested": ({ tool, input, message }) =>
    `asks: ${typeof tool === "string" ? `${tool} ${firstText(input)}` : textOf(message)}`,
  "elicitation.requested": ({ message }) => `asks: ${textOf(message)}`,
  "subagent.started": ({ name, task }) => `sub-agent ${textOf(name)}: ${textOf(task)}`,
  "limit.reached": ({ message }) => textOf(message),
  error: ({ message }) => `error: ${textOf(message)}`,
};

/** What a sub-agent does is not the agent's own, but it asks the same people. */
const ALSO_OF_SUBAGENTS = ["approval.requested", "elicitation.requested"];

class EndOfEvents {
  readonly #questions = new OpenQuestions();
  #line = "";
  #asked = "";
  #partial = { message_id: "", text: "" };
  #agent: string | undefined;
  #model: string | undefined;
  #isInTurn = false;

  get line(): string {
    return this.#line;
  }

  apply(event: Event): void {
    this.#questions.apply(event);
    const { type } = event;
    if (typeof type !== "string") return;
    const isOwn = event.subagent_id === undefined;
    if (isOwn) this.#applyOwn(type, event);
    if (!isOwn && !ALSO_OF_SUBAGENTS.includes(type)) return;
    const told = Object.hasOwn(tellers, type) ? tellers[type]?.(event) : undefined;
    if (told === undefined) return;
    this.#line = toPlainLine(told);
    if (type.endsWith(".requested")) this.#asked = this.#line;
  }

  describe(): AgentEnd {
    const isAsking = this.#questions.size > 0;
    return {
      line: isAsking && this.#asked !== "" ? this.#asked : this.#line,
      ...(this.#agent === undefined ? {} : { agent: this.#agent }),
      ...(this.#model === undefined ? {} : { model: this.#model }),
      isInTurn: this.#isInTurn,
      isAsking,
    };
  }

  #applyOwn(type: string, event: Event): void {
    if (type === "message.delta") this.#grow(event);
    // Every event of a turn has its id, also when the turn began before what is read here.
    this.#isInTurn =
      type === "turn.ended" || type === "session.exited"
        ? false
        : this.#isInTurn || event.turn_id !== undefined;
    const agent = type === "agent.info" ? event.name : event.agent;
    if (typeof agent === "string") this.#agent = agent;
    if (typeof event.model === "string") this.#model = event.model;
  }

  /** An answer is told as it comes. */
  #grow({ message_id, text }: Event): void {
    const id = textOf(message_id);
    const before = this.#partial.message_id === id ? this.#partial.text : "";
    this.#partial = { message_id: id, text: before + textOf(text) };
    this.#line = findLastLine(this.#partial.text) || this.#line;
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function orNothing(text: string): string | undefined {
  return text === "" ? undefined : text;
}

/** Of a call: a command, a path, a pattern; mostly it is what comes first. */
function firstText(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  return Object.values(input).find((value) => typeof value === "string" && value !== "") ?? "";
}
