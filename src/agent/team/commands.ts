import type { CommandDefinition } from "./team.ts";

const COMMAND = /^\/([A-Za-z][\w-]*)(?:\s+([\s\S]*))?$/;
const PLACEHOLDER = /\$\{args(?:\[(\d{1,3})\])?\}/g;
const WORD = /"((?:\\.|[^"\\])*)"|'([^']*)'|(\S+)/gs;

type Commands = Readonly<Record<string, CommandDefinition>>;

/** What `/name words` stands for; undefined when it is no command of these. */
export function expandCommand(commands: Commands, text: string): string | undefined {
  const [, name, rest = ""] = COMMAND.exec(text.trim()) ?? [];
  if (name === undefined || !Object.hasOwn(commands, name)) return undefined;
  const instruction = commands[name]?.instruction ?? "";
  const args = rest.trim();
  // What a person wrote is not lost because the file has no place for it.
  if (instruction.search(PLACEHOLDER) === -1)
    return args === "" ? instruction : `${instruction}\n\n${args}`;
  const words = splitWords(args);
  return instruction.replaceAll(PLACEHOLDER, (_, index: string | undefined) =>
    index === undefined ? args : (words[Number(index)] ?? ""),
  );
}

/** By blanks; quotes keep words together. */
function splitWords(text: string): string[] {
  return [...text.matchAll(WORD)].map(
    ([, double, single, bare]) => double?.replaceAll(/\\(.)/gs, "$1") ?? single ?? bare ?? "",
  );
}
