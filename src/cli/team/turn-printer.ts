import { printable } from "#cli/program/printable.ts";
import { writeTo } from "#cli/terminal/output-writer.ts";
import { hasFailed } from "#contract/conversation/calls.ts";
import { noticeOf } from "#contract/conversation/notices.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";

/** Shows a turn while it runs. */
export interface TurnPrinter {
  print(event: AnyEvent): Promise<void>;
}

const INPUT_CHARS = 200;
const RESULT_CHARS = 300;

/** One event a line, as it stands in the log. */
export function createEventPrinter(): TurnPrinter {
  return {
    print: (event) => writeTo(process.stdout, Buffer.from(`${JSON.stringify(event)}\n`)),
  };
}

/**
 * What the agent says on stdout, all else on stderr. A terminal sees words as they come, without what could control it;
 * a file or a pipe gets each answer whole and as it is.
 */
export function createTextPrinter({ isTerminal }: { readonly isTerminal: boolean }): TurnPrinter {
  const answers = isTerminal ? new LiveAnswers() : new WholeAnswers();
  return {
    print: async (event) => {
      if (event.type === "message.delta" || event.type === "message.end") {
        if (event.subagent_id === undefined) await say(answers.textOf(event));
        return;
      }
      const notice = describe(event);
      if (notice !== undefined) process.stderr.write(`${printable(notice)}\n`);
    },
  };
}

type Said = Extract<AnyEvent, { type: "message.delta" | "message.end" }>;

class WholeAnswers {
  textOf(event: Said): string {
    return event.type === "message.end" ? endLine(event.text) : "";
  }
}

class LiveAnswers {
  /** What was shown of the message that has not ended. */
  #shown = "";

  textOf(event: Said): string {
    if (event.type === "message.delta") {
      this.#shown += event.text;
      return plain(event.text);
    }
    const shown = this.#shown;
    this.#shown = "";
    const rest = event.text.startsWith(shown) ? event.text.slice(shown.length) : `\n${event.text}`;
    return plain(shown === "" ? endLine(rest) : endLine(rest === "" ? "\n" : rest));
  }
}

function endLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** Lines and tabs stay. */
function plain(text: string): string {
  return text.replace(/[^\n\t]+/g, printable);
}

function say(text: string): Promise<void> {
  return writeTo(process.stdout, Buffer.from(text));
}

/** The notices that a person wants to see; undefined for the rest. */
function describe(event: AnyEvent): string | undefined {
  switch (event.type) {
    case "tool.call.end":
      return `${whoOf(event)}${event.tool} ${cut(JSON.stringify(event.input), INPUT_CHARS)}`;
    case "tool.result":
      return hasFailed(event)
        ? `${whoOf(event)}${event.tool}: ${cut(event.output, RESULT_CHARS)}`
        : undefined;
    case "subagent.started":
      return `[${event.name} works on: ${cut(event.task, INPUT_CHARS)}]`;
    case "compaction.ended":
      return `[the history was made shorter: ${event.outcome}]`;
    case "agent.switched":
    case "model.fallback":
    case "hook.blocked":
    case "warning":
      return `[${cut(noticeOf(event)?.text ?? "", RESULT_CHARS)}]`;
    default:
      return undefined;
  }
}

function whoOf({
  agent,
  subagent_id,
}: {
  agent?: string | undefined;
  subagent_id?: string | undefined;
}) {
  return subagent_id === undefined ? "" : `${agent ?? ""}: `;
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars)}…`;
}
