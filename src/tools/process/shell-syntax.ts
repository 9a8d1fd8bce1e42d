import type { Statement } from "unbash";
import { visitBash } from "#base/bash-nodes.ts";

/** Far above what a model writes as one command. */
const MAX_PARSED_CHARS = 512 * 1024;
/** A word without any of these has no command inside, and words are most of a script. */
const MAY_HOLD_COMMAND = /[`(]|\$\{/;

interface ShellSyntax {
  /** Of the top level. */
  readonly statements: readonly Statement[];
  /** How many statements end in `&`, those of substitutions, functions and groups included. */
  readonly asyncCount: number;
}

/** The command as bash would read it, or undefined where it would not, or where reading takes too long. */
export function parseShell(command: string): ShellSyntax | undefined {
  if (command.length > MAX_PARSED_CHARS) return undefined;
  let asyncCount = 0;
  try {
    const script = visitBash(command, (node) => {
      if (node.type === "Statement" && node.background === true) asyncCount += 1;
      return node.type === "Word" && !MAY_HOLD_COMMAND.test(node.text) ? "skip" : "enter";
    });
    return script === undefined ? undefined : { statements: script.commands, asyncCount };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
