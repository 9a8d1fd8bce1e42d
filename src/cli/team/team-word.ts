import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { splitCommand } from "#cli/program/options.ts";
import { listenOptions } from "#cli/target/listen-options.ts";

/** Of `reins run` with a team. */
export const teamOptions = {
  detach: { type: "boolean", short: "d" },
  exec: { type: "boolean" },
  json: { type: "boolean" },
  "dry-run": { type: "boolean" },
  agent: { type: "string" },
  model: { type: "string", multiple: true },
  "prompt-file": { type: "string", multiple: true },
  "working-dir": { type: "string" },
  session: { type: "string" },
  safety: { type: "string" },
  name: { type: "string" },
  title: { type: "string" },
  task: { type: "string" },
  remote: { type: "string" },
  "on-event": { type: "string", multiple: true },
  ...listenOptions,
} as const;

/** Those that a command has as well; any other says that a team is meant. */
const SHARED = [
  ...["json", "name", "title", "on-event", "detach", "task", "remote"],
  ...Object.keys(listenOptions),
];
const NAME = /^[A-Za-z0-9][\w.-]*$/;
const FILE = /\.ya?ml$/i;

const valued = Object.entries(teamOptions)
  .filter(([, { type }]) => type === "string")
  .map(([name]) => `--${name}`);

/**
 * Whether `reins run` is given a team and not a command:
 *
 *   an option that only teams have stands before the first word, or
 *   the first word is the name of a YAML file, or
 *   the first word is the name of a team in the data directory's folder `teams`, or
 *   `--remote` stands before the first word: which names a server knows, only it can say.
 *
 * Behind `--` stands a command, unless such an option stands before it. Loads nothing: commands come by here as well.
 */
export function meansTeam(
  argv: readonly string[],
  {
    dataDir,
    commandValued,
  }: { readonly dataDir: string; readonly commandValued: readonly string[] },
): boolean {
  const { ours, command } = splitCommand(argv, [...valued, ...commandValued]);
  if (ours.some((word) => isTeamOption(word))) return true;
  const [first] = command;
  if (first === undefined || argv[ours.length] === "--") return false;
  if (ours.some((word) => /^--remote(=|$)/.test(word))) return true;
  return (
    isTeamFile(first) || (NAME.test(first) && existsSync(join(dataDir, "teams", `${first}.yaml`)))
  );
}

/** What ends like a YAML file is one, there or not; a sentence that ends so is none, unless there is a file of that name. */
export function isTeamFile(word: string): boolean {
  return FILE.test(word) && (!/\s/.test(word) || isFile(word));
}

export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function isTeamOption(word: string): boolean {
  const name = /^--(?:no-)?([a-z-]+)(?:=.*)?$/s.exec(word)?.[1];
  return name !== undefined && Object.hasOwn(teamOptions, name) && !SHARED.includes(name);
}
