import type { Session } from "#contract/session.ts";
import type { SessionState } from "#contract/session-state.ts";
import type { LogLine } from "#log/lines.ts";

const SHORTEST_FENCE = 3;
/** Of an event's text that is shown. */
const EVENT_CHARS = 4000;

/** What is known of a session, for a reader. */
export function writeFacts(session: Session): string {
  const { title, session_id } = session;
  const facts: readonly (readonly [string, string | null])[] = [
    ["Session", session_id],
    ["Kind", session.kind],
    ["Command", session.argv.join(" ")],
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

/** What was said and done, one event a line. */
export async function* writeConversation(
  events: AsyncIterable<LogLine>,
): AsyncGenerator<string, void, void> {
  for await (const line of events) {
    if (line.kind !== "line") continue;
    const { type, at, text, content, name, tool, tool_name } = line.value;
    if (typeof type !== "string" || !SHOWN.test(type)) continue;
    const said = [tool_name, tool, name, text, content].filter((part) => typeof part === "string");
    const when = typeof at === "string" ? ` ${plain(at)}` : "";
    yield `- **${plain(type)}**${when} ${plain(said.join(": ").slice(0, EVENT_CHARS))}\n`;
  }
}

const SHOWN = /^(?:message\.user|message\.end|tool\.call\.(?:start|end)|tool\.result)$/;

function describeState(state: SessionState): string {
  if (state.kind === "lost") return `lost (${state.reason})`;
  if (state.kind !== "exited") return state.kind;
  const by = state.signal === null ? "" : ` by ${state.signal}`;
  return `exited with ${state.exit_code ?? "nothing"}${by} (${state.reason})`;
}

/** On one line, and meaning nothing to Markdown or HTML. */
function plain(text: string): string {
  return text
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(/[\\`*_{}[\]()#+!|~>-]/g, "\\$&");
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
