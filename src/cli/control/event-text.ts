import { printable } from "#cli/program/printable.ts";
import { hasFailed } from "#contract/conversation/calls.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";

const TEXT_CHARS = 400;
const CLOCK = { from: 11, to: 19 } as const;
/** What comes in pieces is shown when it is whole. */
const PIECES = /\.(delta|start)$|^tool\.output$/;
/** Said of every event, or by its type. */
const KNOWN = ["type", "at", "session_id", "turn_id", "agent", "subagent_id"];

/** An event as a line for people: when, what, who, and what it says. Undefined for the pieces of what follows whole. */
export function describeEvent(event: AnyEvent): string | undefined {
  if (PIECES.test(event.type)) return undefined;
  const who = "agent" in event && event.agent !== undefined ? `${event.agent}: ` : "";
  const at = event.at.slice(CLOCK.from, CLOCK.to);
  return printable(`${at} ${event.type.padEnd(22)} ${who}${cut(sayMore(event))}`).trimEnd();
}

function sayMore(event: AnyEvent): string {
  switch (event.type) {
    case "message.user":
      return event.content.map((part) => (part.type === "text" ? part.text : "[image]")).join(" ");
    case "message.end":
    case "reasoning.end":
      return event.text;
    case "tool.call.end":
      return `${event.tool} ${JSON.stringify(event.input)}`;
    case "tool.result":
      return `${event.tool}${hasFailed(event) ? " failed" : ""}: ${event.output}`;
    case "approval.requested":
      return `${event.approval_id} ${event.message}`;
    case "elicitation.requested":
      return `${event.elicitation_id} ${event.message}`;
    case "team.info":
      return event.name;
    case "session.opened":
      return event.argv.join(" ");
    case "session.exited":
      return describeEnd(event.state);
    default:
      return listFacts(event);
  }
}

function describeEnd(state: Extract<AnyEvent, { type: "session.exited" }>["state"]): string {
  if (state.kind === "exited") return `${state.reason}, exit code ${state.exit_code ?? "none"}`;
  return state.kind === "lost" ? state.reason : state.kind;
}

/** The rest is short: its own facts by their names. */
function listFacts(event: AnyEvent): string {
  return Object.entries(event)
    .filter(([name]) => !KNOWN.includes(name))
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
}

function cut(text: string): string {
  return text.length <= TEXT_CHARS ? text : `${text.slice(0, TEXT_CHARS)}…`;
}
