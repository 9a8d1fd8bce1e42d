import type { CommandSpec } from "#cli/program/command-spec.ts";
import { commands } from "./commands.ts";

export function describeAll(): string {
  const shown = Object.entries(commands).filter(([, spec]) => spec.hidden !== true);
  const rows = shown.map(([name, spec]) => `  ${name.padEnd(11)}${spec.summary}`);
  return [
    "reins: agents and terminals that you can always get back to.",
    "",
    "Usage: reins COMMAND [options]",
    "",
    ...rows,
    "",
    "reins COMMAND --help tells more. Data is kept in $REINS_HOME, else in $XDG_STATE_HOME/reins.",
    "",
  ].join("\n");
}

export function describeCommand(spec: CommandSpec): string {
  const options: CommandSpec["options"] = [...spec.options, ["-h, --help", "this text"]];
  const width = Math.max(...options.map(([flag]) => flag.length)) + 2;
  return [
    spec.summary,
    "",
    `Usage: ${spec.usage}`,
    "",
    ...options.map(([flag, meaning]) => `  ${flag.padEnd(width)}${meaning}`),
    "",
    "Examples:",
    ...spec.examples.map((example) => `  ${example}`),
    "",
  ].join("\n");
}
