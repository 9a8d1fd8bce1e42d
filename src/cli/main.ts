import { type CommandSpec, commands } from "./commands.ts";
import { exitCodeOf, sayFault } from "./exit.ts";

const USAGE_EXIT = 2;
/** 128 and the number of SIGHUP. */
const HANGUP_EXIT = 129;

/** The exit code. Nothing is loaded that the command does not need. */
export async function main(argv: readonly string[]): Promise<number> {
  const [name = "--help", ...rest] = argv;
  if (name === "--version" || name === "-V") {
    const { version } = await import("./version.ts");
    process.stdout.write(`${version()}\n`);
    return 0;
  }
  if (name === "--help" || name === "-h" || name === "help") return await showHelp(rest[0]);
  const spec = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (spec === undefined) {
    process.stderr.write(
      `reins: there is no command ${JSON.stringify(name)}; reins --help lists them\n`,
    );
    return USAGE_EXIT;
  }
  if (wantsHelp(spec, rest)) return await showHelp(name);
  endQuietlyWithReader();
  try {
    const { run } = await spec.load();
    return await run(rest);
  } catch (error) {
    sayFault(error);
    return exitCodeOf(error);
  }
}

/** `reins logs | head`: whoever read us has seen enough. A terminal that was closed takes nothing more either. */
function endQuietlyWithReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(0);
      if (error.code === "EIO") process.exit(HANGUP_EXIT);
      throw error;
    });
  }
}

async function showHelp(name: string | undefined): Promise<number> {
  const { describeAll, describeCommand } = await import("./help.ts");
  const spec = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  process.stdout.write(spec === undefined ? describeAll() : describeCommand(spec));
  return 0;
}

function wantsHelp({ takesProgram }: CommandSpec, words: readonly string[]): boolean {
  const end = words.indexOf("--");
  const ours = end < 0 ? words : words.slice(0, end);
  const first = takesProgram === true ? ours.findIndex((word) => !word.startsWith("-")) : -1;
  return (first < 0 ? ours : ours.slice(0, first)).some(
    (word) => word === "--help" || word === "-h",
  );
}
