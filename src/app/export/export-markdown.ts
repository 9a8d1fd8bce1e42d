import { quoteIfNeeded } from "#base/shell-quote.ts";
import type { TranscriptMessage } from "#contract/agent/message.ts";
import { hasFailed } from "#contract/conversation/calls.ts";
import type { Session } from "#contract/session.ts";
import type { SessionState } from "#contract/session-state.ts";
import { writeMessageText } from "./message-markdown.ts";

const SHORTEST_FENCE = 3;

/** What is known of a session, for a reader. */
export function writeFacts(session: Session): string {
  const { title, session_id } = session;
  const facts: readonly (readonly [string, string | null])[] = [
    ["Session", session_id],
    ["Kind", session.kind],
    // An agent's argv is how its worker was started, which says nothing about the agent.
    ["Command", session.kind === "agent" ? null : session.argv.map(quoteIfNeeded).join(" ")],
    ["Work dir", session.work_dir],
    ["Created", session.created_at],
    ["Exited", session.exited_at],
    ["State", describeState(session.state)],
  ];
  const rows = facts
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) => `| ${name} | ${plain(value ?? "")} |\n`);
  return `# ${plain(title === "" ? session_id : title)}\n\n| | |\n|---|---|\n${rows.join("")}\n`;
}

/**
 * The text in a fence that nothing in it can end: longer than any run of backticks that `measure` finds. It is read
 * twice, and what is evicted between the two changes how the rest reads, so longer runs are broken up all the same.
 */
export async function* writeFenced(
  measure: AsyncIterable<string>,
  text: AsyncIterable<string>,
): AsyncGenerator<string, void, void> {
  const fence = "`".repeat(Math.max(SHORTEST_FENCE, (await longestRun(measure)) + 1));
  const guard = createRunBreaker(fence.length);
  yield `${fence}\n`;
  for await (const piece of text) yield guard(piece);
  yield `${fence}\n`;
}

/** What was said and done, a heading a message. Nothing in a message can end it or begin another. */
export function* writeTranscript(messages: Iterable<TranscriptMessage>): Generator<string> {
  for (const message of messages) {
    yield `## ${plain(nameOf(message))} (${plain(message.at)})\n\n`;
    yield* writeMessage(message);
  }
}

function nameOf(message: TranscriptMessage): string {
  if (message.role === "assistant") return message.agent === "" ? "assistant" : message.agent;
  if (message.role === "tool") return `${message.tool}${hasFailed(message) ? ": failed" : ""}`;
  if (message.role === "user" && message.origin !== "message") return `user: ${message.origin}`;
  return message.role === "error" ? `error: ${message.code}` : message.role;
}

function* writeMessage(message: TranscriptMessage): Generator<string> {
  switch (message.role) {
    case "user":
      yield* message.content.map((part) =>
        part.type === "text" ? writeMessageText(part.text) : IMAGE,
      );
      return;
    case "assistant":
      yield writeMessageText(message.text);
      for (const { tool, input } of message.tool_calls)
        yield `Calls ${plain(tool)}\n\n${fence(JSON.stringify(input, null, 2))}`;
      if (message.interrupted === true) yield "Interrupted.\n\n";
      return;
    case "tool":
      yield fence(message.output);
      return;
    case "summary":
      yield writeMessageText(message.text);
      return;
    case "error":
      yield writeMessageText(message.message);
  }
}

const IMAGE = "(an image)\n\n";

function fence(text: string): string {
  const runs = [...text.matchAll(/`+/g)].map(([run]) => run.length);
  const longest = runs.reduce((most, run) => Math.max(most, run), 0);
  const marks = "`".repeat(Math.max(SHORTEST_FENCE, longest + 1));
  return `${marks}\n${text}${text.endsWith("\n") ? "" : "\n"}${marks}\n\n`;
}

function describeState(state: SessionState): string {
  if (state.kind === "lost") return `lost (${state.reason})`;
  if (state.kind !== "exited") return state.kind;
  const by = state.signal === null ? "" : ` by ${state.signal}`;
  return `exited with ${state.exit_code ?? "nothing"}${by} (${state.reason})`;
}

/**
 * On one line, and meaning nothing to Markdown or HTML. Only what means something inside a line is escaped: an
 * underscore within a word does not, and neither does what only counts at the beginning of a line.
 */
function plain(text: string): string {
  return text
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(/[\\`*[\]|~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|#(?=#*\s*$)/gu, "\\$&");
}

async function longestRun(text: AsyncIterable<string>): Promise<number> {
  let longest = 0;
  let run = 0;
  for await (const piece of text) {
    for (const match of piece.matchAll(/`+/g)) {
      run = match.index === 0 ? run + match[0].length : match[0].length;
      longest = Math.max(longest, run);
    }
    if (!piece.endsWith("`")) run = 0;
  }
  return longest;
}

/** Puts a space of no width into each run of backticks before it gets as long as `length`. */
function createRunBreaker(length: number): (piece: string) => string {
  let run = 0;
  return (piece) =>
    piece.replaceAll(/`+|[^`]+/g, (part) => {
      if (!part.startsWith("`")) {
        run = 0;
        return part;
      }
      let broken = "";
      for (const tick of part) {
        if (run + 1 >= length) {
          broken += "\u200b";
          run = 0;
        }
        broken += tick;
        run += 1;
      }
      return broken;
    });
}
