import type { ModelMessage, ModelRequest } from "./model.ts";
import type { Matcher } from "./script.ts";

type Check = (request: ModelRequest, matcher: Matcher) => string | undefined;

/** What does not hold, as sentences; none = it matches. */
export function findMismatches(matcher: Matcher, request: ModelRequest): readonly string[] {
  return checks.map((check) => check(request, matcher)).filter((found) => found !== undefined);
}

export function isMatch(matcher: Matcher, request: ModelRequest): boolean {
  return checks.every((check) => check(request, matcher) === undefined);
}

/** What the user said last. */
export function lastUserText(messages: readonly ModelMessage[]): string {
  const last = messages.findLast((message) => message.role === "user");
  if (last === undefined) return "";
  return last.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

const checks: readonly Check[] = [
  ({ messages }, { last_user_contains: words }) =>
    missing("the user's last message", lastUserText(messages), words),
  ({ messages }, { last_tool_result_contains: words }) =>
    missing("the tools' last results", newResults(messages).map(outputOf).join("\n"), words),
  ({ messages }, { system_contains: words }) =>
    missing("the system message", systemText(messages), words),
  ({ tools }, { tools_include: wanted }) => {
    const names = tools.map((tool) => tool.name);
    const absent = asList(wanted).filter((name) => !names.includes(name));
    return absent.length === 0 ? undefined : `there is no tool ${absent.join(", ")}`;
  },
  ({ tools }, { tools_exclude: unwanted }) => {
    const present = asList(unwanted).filter((name) => tools.some((tool) => tool.name === name));
    return present.length === 0 ? undefined : `there is a tool ${present.join(", ")}`;
  },
  ({ messages }, { tool_error }) =>
    differs(
      "a tool has failed",
      newResults(messages).some((result) => result.is_error),
      tool_error,
    ),
  ({ messages }, { last_role }) =>
    differs("the last message's role", spoken(messages).at(-1)?.role, last_role),
  ({ messages }, { has_images }) =>
    differs("there are images", messages.some(hasImages), has_images),
  ({ structured_output }, matcher) =>
    differs("JSON is asked for", structured_output !== undefined, matcher.structured_output),
  ({ messages }, { messages_count }) =>
    differs("the number of messages", spoken(messages).length, messages_count),
  ({ messages }, { messages_at_least: least = 0 }) => {
    const count = spoken(messages).length;
    return count >= least ? undefined : `there are ${count} messages, not at least ${least}`;
  },
  ({ messages }, { messages_at_most: most = Number.POSITIVE_INFINITY }) => {
    const count = spoken(messages).length;
    return count <= most ? undefined : `there are ${count} messages, not at most ${most}`;
  },
];

/** Enough to see what came instead. */
const QUOTED_CHARS = 200;

function missing(
  what: string,
  text: string,
  words: string | readonly string[] | undefined,
): string | undefined {
  const absent = asList(words).filter((word) => !text.includes(word));
  if (absent.length === 0) return undefined;
  const quoted = absent.map((word) => JSON.stringify(word)).join(", ");
  return `${what} does not contain ${quoted}; it is ${JSON.stringify(text.slice(0, QUOTED_CHARS))}`;
}

function differs<T>(what: string, found: T, wanted: T | undefined): string | undefined {
  if (wanted === undefined || wanted === found) return undefined;
  return `${what}: expected ${String(wanted)}, got ${String(found)}`;
}

function asList(words: string | readonly string[] | undefined): readonly string[] {
  if (words === undefined) return [];
  return typeof words === "string" ? [words] : words;
}

function spoken(messages: readonly ModelMessage[]) {
  return messages.filter((message) => message.role !== "system");
}

function systemText(messages: readonly ModelMessage[]): string {
  return messages.map((message) => (message.role === "system" ? message.text : "")).join("\n");
}

/** Of the tools, since an assistant last spoke. */
function newResults(messages: readonly ModelMessage[]) {
  const from = messages.findLastIndex((message) => message.role === "assistant") + 1;
  return messages
    .slice(from)
    .flatMap((message) => (message.role === "tool" ? [...message.results] : []));
}

function outputOf(result: { readonly output: string }): string {
  return result.output;
}

function hasImages(message: ModelMessage): boolean {
  if (message.role === "user") return message.content.some((part) => part.type === "image");
  if (message.role !== "tool") return false;
  return message.results.some((result) => (result.images ?? []).length > 0);
}
