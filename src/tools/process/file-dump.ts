import type { Command, Redirection, Statement, Word } from "unbash";
import { parseShell } from "./shell-syntax.ts";

/** Whether all that a command is for is to print files, or names of files, which a file tool does better. */
export function dumpsFile(command: string): boolean {
  const [statement, ...others] = parseShell(command)?.statements ?? [];
  if (statement === undefined || others.length > 0) return false;
  const last = findLastCommand(statement);
  if (last === undefined || !last.redirects.every(leavesOutput)) return false;
  const [program = "", ...args] = withoutSudo(wordsOf(last));
  const name = program.slice(program.lastIndexOf("/") + 1);
  if (name === "cat") return namesFile(args) || last.redirects.some(readsFile);
  const valued = valuedFlags.get(name);
  return valued !== undefined && listsFiles(args, valued);
}

/** The simple command that a statement comes down to: itself, or the last after `&&`. */
function findLastCommand({ command, background }: Statement): Command | undefined {
  if (background === true) return undefined;
  if (command.type === "Command") return command;
  if (command.type !== "AndOr" || command.operators.includes("||")) return undefined;
  const last = command.commands.at(-1);
  return last?.type === "Command" ? last : undefined;
}

/** A process substitution is no file, and stands for `-`. */
function wordsOf({ name, args }: Command): string[] {
  const words = [name, ...args].filter((word): word is Word => word?.type === "Word");
  return words.map((word) => (isProcess(word) ? "-" : word.value));
}

function isProcess(word: Word): boolean {
  return word.parts?.some((part) => part.type === "ProcessSubstitution") === true;
}

/** What goes wrong may go elsewhere: `cat f 2>/dev/null`. */
function leavesOutput(redirect: Redirection): boolean {
  if (redirect.type !== "Redirect") return false;
  const { descriptor } = redirect;
  return readsFile(redirect) || (descriptor?.type === "FileDescriptor" && descriptor.value === 2);
}

function readsFile(redirect: Redirection): boolean {
  if (redirect.type !== "Redirect" || redirect.operator !== "<") return false;
  const { descriptor, target } = redirect;
  return descriptor === undefined && target !== undefined && !isProcess(target);
}

/** Options of sudo that take the next word. */
const SUDO_VALUED = /^-[A-Za-z]*[CDghpRrTtUu]$/;

function withoutSudo(words: readonly string[]): readonly string[] {
  if (words[0] !== "sudo") return words;
  let at = 1;
  for (let word = words[at]; word?.startsWith("-") === true; word = words[at]) {
    at += SUDO_VALUED.test(word) ? 2 : 1;
  }
  return words.slice(at);
}

/** `cat` alone, `cat -n` and `cat -` read what they are given. */
function namesFile(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  const before = end === -1 ? args : args.slice(0, end);
  const after = end === -1 ? [] : args.slice(end + 1);
  return before.some((arg) => !arg.startsWith("-")) || after.some((arg) => arg !== "-");
}

/** Short options whose value follows: in `-el` the `l` is a pattern. `-r` is one in rg alone. */
const valuedFlags = new Map([
  ["grep", "efmABCdD"],
  ["rg", "efmABCdgtTEjMr"],
]);

const LISTING = new Set(["--files-with-matches", "--include-all"]);

function listsFiles(args: readonly string[], valued: string): boolean {
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? "";
    if (arg === "--") return false;
    if (LISTING.has(arg)) return true;
    if (!/^-[^-]/.test(arg)) continue;
    const flags = arg.slice(1);
    const value = [...flags].findIndex((flag) => valued.includes(flag));
    const plain = value === -1 ? flags : flags.slice(0, value);
    if (plain.includes("l")) return true;
    // Its value is the next word.
    if (value === flags.length - 1) at += 1;
  }
  return false;
}
