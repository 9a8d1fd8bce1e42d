import { renderBash } from "#cli/completion/bash.ts";
import { renderFish } from "#cli/completion/fish.ts";
import { type CommandGrammar, createGrammar } from "#cli/completion/grammar.ts";
import { renderZsh } from "#cli/completion/zsh.ts";
import type { Command, CommandSpec } from "#cli/program/command-spec.ts";
import { parseOptions, refuseWords } from "#cli/program/options.ts";
import { Fault } from "#contract/fault.ts";

const shells: Readonly<Record<string, (grammar: readonly CommandGrammar[]) => string>> = {
  bash: renderBash,
  zsh: renderZsh,
  fish: renderFish,
};

/** The table comes in from outside, because it is the table that loads this file. */
export function createCompletion(commands: Readonly<Record<string, CommandSpec>>): Command {
  return async (argv) => {
    const { positionals } = parseOptions(argv, {});
    const [shell, ...rest] = positionals;
    refuseWords(rest);
    const render = getRenderer(shell);
    process.stdout.write(render(createGrammar(commands)));
    return 0;
  };
}

function getRenderer(shell: string | undefined) {
  const known = Object.keys(shells).join(", ");
  if (shell === undefined)
    throw new Fault("invalid_request", `which shell? reins completion knows ${known}`);
  const render = Object.hasOwn(shells, shell) ? shells[shell] : undefined;
  if (render !== undefined) return render;
  throw new Fault(
    "invalid_request",
    `there is no completion for ${JSON.stringify(shell)}; known are ${known}`,
  );
}
