/** A command that is typed with a slash. */
export interface Command {
  readonly name: string;
  /** The words that may follow the name; empty for none. */
  readonly takes: string;
  readonly meaning: string;
}

/** Those that are ours, and not the agent's own. */
const slashCommands = {
  model: { takes: "[NAME]", meaning: "which models there are, or another one from now on" },
  agent: { takes: "[NAME]", meaning: "which agents are in the team, or which one continues" },
  tools: { takes: "", meaning: "what the agent can do" },
  compact: { takes: "[INSTRUCTION]", meaning: "make the history shorter" },
  followup: { takes: "TEXT", meaning: "say it when the turn has ended (as Tab does)" },
  sessions: { takes: "", meaning: "what else there is" },
  detach: { takes: "", meaning: "leave; the session keeps running" },
  help: { takes: "", meaning: "this list" },
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

/** Ours, then the agent's own, each with what it is for. */
export function listCommands(own: Readonly<Record<string, string>>): readonly Command[] {
  const ours = Object.entries(slashCommands).map(([name, command]) => ({ name, ...command }));
  const others = Object.entries(own)
    .filter(([name]) => !isOurs(name))
    .map(([name, description]) => ({
      name,
      takes: "",
      meaning: description.trim() === "" ? "a command of this agent" : description,
    }));
  return [...ours, ...others];
}

export function describeCommand({ name, takes, meaning }: Command): string {
  return `/${name}${takes === "" ? "" : ` ${takes}`}: ${meaning}`;
}

export function describeHelp(own: Readonly<Record<string, string>>): string {
  return [...listCommands(own).map(describeCommand), ...keys].join("\n");
}

const keys = [
  "Enter sends: to a turn that runs at once, else as a new message; Tab waits for its end",
  "Tab behind a slash completes the command",
  "Alt-Enter begins a new line; Up and Down move between lines, then bring back what was sent",
  "Esc interrupts; Ctrl-O unfolds calls of tools; Ctrl-D leaves",
];

function isOurs(name: string): name is SlashName {
  return Object.hasOwn(slashCommands, name);
}
