import { systemClock } from "#base/clock.ts";
import type { CommandSpec } from "#cli/program/command-spec.ts";
import { exitCodeOf, exitCodeOfProgram, notice, sayFault } from "#cli/program/exit.ts";
import { guardLater } from "#proc/platform/guard-memory.ts";
import { commands } from "./commands.ts";

const USAGE_EXIT = 2;
/** 128 and the number of SIGHUP. */
const HANGUP_EXIT = 129;

/** The exit code. Nothing is loaded that the command does not need. */
export async function main(argv: readonly string[]): Promise<number> {
  endQuietlyWithReader();
  const [name = "--help", ...rest] = argv;
  if (name === "--version" || name === "-V") {
    const { version } = await import("#cli/program/version.ts");
    process.stdout.write(`${version()}\n`);
    return 0;
  }
  if (name === "--help" || name === "-h" || name === "help") return await showHelp(rest[0]);
  const spec = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (spec === undefined) return await refuseName(name);
  if (await wantsHelp(spec, rest)) return await showHelp(name);
  using _guard = guardLater(systemClock, process.env);
  try {
    const { run } = await spec.load();
    return await run(rest);
  } catch (error) {
    sayFault(error);
    return spec.takesProgram === true ? exitCodeOfProgram(error) : exitCodeOf(error);
  }
}

/** `reins logs | head`: whoever read us has seen enough. A terminal that was closed takes nothing more either. */
function endQuietlyWithReader(): void {
  for (const [name, stream] of [
    ["stdout", process.stdout],
    ["stderr", process.stderr],
  ] as const) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(0);
      if (error.code === "EIO") process.exit(HANGUP_EXIT);
      notice(`cannot write to ${name}: ${describeWriteError(error)}`);
      process.exit(exitCodeOf(error));
    });
  }
}

/** The caller chose where our output goes, so what is full there is not the disk that Reins keeps its data on. */
function describeWriteError({ code, message }: NodeJS.ErrnoException): string {
  if (code === "ENOSPC") return "no space left where it is redirected to";
  return code === "EDQUOT" ? "the disk quota is used up where it is redirected to" : message;
}

async function showHelp(name: string | undefined): Promise<number> {
  const spec = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (name !== undefined && spec === undefined && !isHelp(name)) return await refuseName(name);
  const { describeAll, describeCommand } = await import("./help.ts");
  process.stdout.write(spec === undefined ? describeAll() : describeCommand(spec));
  return 0;
}

async function refuseName(name: string): Promise<number> {
  const { findNearest } = await import("#base/nearest.ts");
  const shown = Object.keys(commands).filter((each) => commands[each]?.hidden !== true);
  const nearest = findNearest(name, shown);
  const meant = nearest === undefined ? "" : `did you mean reins ${nearest}? `;
  process.stderr.write(
    `reins: there is no command ${JSON.stringify(name)}; ${meant}reins --help lists them\n`,
  );
  return USAGE_EXIT;
}

async function wantsHelp(
  { takesProgram, findOwnWords }: CommandSpec,
  words: readonly string[],
): Promise<boolean> {
  const end = words.indexOf("--");
  const before = end < 0 ? words : words.slice(0, end);
  if (!before.some(isHelp)) return false;
  if (findOwnWords !== undefined) return (await findOwnWords(before)).some(isHelp);
  const first = takesProgram === true ? before.findIndex((word) => !word.startsWith("-")) : -1;
  return (first < 0 ? before : before.slice(0, first)).some(isHelp);
}

function isHelp(word: string): boolean {
  return word === "--help" || word === "-h";
}
