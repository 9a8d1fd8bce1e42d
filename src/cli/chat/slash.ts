/** What is typed with a slash and is ours. */
const slashCommands = {
  model: "[NAME]: which models there are, or another one from now on",
  agent: "[NAME]: who is in the team, or who goes on",
  tools: "what the agent can do",
  compact: "[INSTRUCTION]: make the history shorter",
  followup: "TEXT: say it when the turn has ended (as Tab does)",
  sessions: "what else there is",
  detach: "leave; the session goes on",
  help: "this list",
} as const;

export type SlashName = keyof typeof slashCommands;
export type Slash =
  | { readonly kind: "ours"; readonly name: SlashName; readonly rest: string }
  | { readonly kind: "unknown"; readonly name: string };

/**
 * Undefined for what is said to the agent: everything without a slash, paths, and the commands of its own, which are known
 * to it and not to us.
 */
export function parseSlash(text: string, own: readonly string[]): Slash | undefined {
  const [, name, rest = ""] = /^\/([a-z][\w-]*)(?:\s+([\s\S]*))?$/i.exec(text.trim()) ?? [];
  if (name === undefined) return undefined;
  if (isOurs(name)) return { kind: "ours", name, rest: rest.trim() };
  return own.includes(name) ? undefined : { kind: "unknown", name };
}

export function describeHelp(own: Readonly<Record<string, string>>): string {
  const ours = Object.entries(slashCommands).map(([name, meaning]) => `/${name} ${meaning}`);
  const others = Object.keys(own).map((name) => `/${name}: of this agent`);
  return [...ours, ...others, ...keys].join("\n");
}

const keys = [
  "Enter sends: to a turn that runs at once, else as a new message; Tab waits for its end",
  "Alt-Enter begins a new line; Up and Down bring back what was sent",
  "Esc interrupts; Ctrl-O unfolds calls of tools; Ctrl-D leaves",
];

function isOurs(name: string): name is SlashName {
  return Object.hasOwn(slashCommands, name);
}
