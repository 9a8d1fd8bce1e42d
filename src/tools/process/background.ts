import type { Statement } from "unbash";
import { parseShell } from "./shell-syntax.ts";

export interface CommandPlan {
  readonly command: string;
  /** It ended in an `&` of its own, which `command` no longer has. */
  readonly isBackground: boolean;
  /** An `&` is left in it whose child may outlive the shell. */
  readonly leavesChildren: boolean;
}

/**
 * What to run, and whether it was meant for the background. Only a provably trailing async operator at
 * the top level is removed; anything that does not parse is left exactly as it is.
 */
export function planCommand(command: string): CommandPlan {
  const asIs = { command, isBackground: false, leavesChildren: false };
  if (!command.includes("&")) return asIs;
  const syntax = parseShell(command);
  if (syntax === undefined) return asIs;
  const { statements, asyncCount } = syntax;
  const last = statements.at(-1);
  if (last === undefined || !isPromotable(last, command))
    return { ...asIs, leavesChildren: asyncCount > 0 };
  return {
    command: withoutOperator(command, last.end - 1),
    isBackground: true,
    leavesChildren: asyncCount > 1,
  };
}

/** A coprocess is in the background with or without `&`: without it the shell would end as early. */
function isPromotable(statement: Statement, command: string): boolean {
  return (
    statement.background === true &&
    statement.command.type !== "Coproc" &&
    command[statement.end - 1] === "&"
  );
}

/** In `x&# note` the operator also keeps the comment from becoming part of the word. */
function withoutOperator(command: string, at: number): string {
  const rest = command.slice(at + 1);
  const gap = rest === "" || /^[ \t\n]/.test(rest) ? "" : " ";
  return command.slice(0, at) + gap + rest;
}
