export interface SlashCommand {
  readonly name: string;
  readonly description: string;
}

const OFFERED_MOST = 8;

/** The commands that begin with what is typed; none once there is more than a name. */
export function offerCommands(
  commands: Readonly<Record<string, string>>,
  text: string,
): readonly SlashCommand[] {
  const typed = /^\/([\w-]*)$/.exec(text)?.[1];
  if (typed === undefined) return [];
  return Object.entries(commands)
    .filter(([name]) => name.toLowerCase().startsWith(typed.toLowerCase()))
    .sort(([one], [other]) => one.localeCompare(other))
    .slice(0, OFFERED_MOST)
    .map(([name, description]) => ({ name, description }));
}
