import { isUnknown, join, type ShellText } from "./shell-text.ts";

interface Hidden {
  /** Commands that this one would start. */
  readonly shadows: readonly ShellText[];
  /** Texts that it would run as command lines; a shadow is one that it only may run. */
  readonly scripts: readonly { readonly text: ShellText; readonly isShadow: boolean }[];
  /** It runs something that does not stand here. */
  readonly isOpaque: boolean;
}

/** These run the rest of their arguments, or one of them. */
const STARTERS = new Set(
  (
    "builtin busybox chroot chrt command doas env exec flock ionice ltrace nice nohup nsenter parallel runuser " +
    "script setpriv setsid ssh stdbuf strace su sudo systemd-run taskset time timeout toybox unshare watch xargs"
  ).split(" "),
);
const FINDERS = new Set(["find", "fd", "fdfind"]);
const FINDER_STARTS = /^(?:-exec(?:dir)?|-ok(?:dir)?|-x|-X|--exec(?:-batch)?)$/;
const SHELLS = new Set("ash bash csh dash fish ksh mksh rbash sh tcsh zsh".split(" "));
const EVALUATORS = new Set(["eval", "trap"]);
const COMMAND_OPTION = /^-[a-z]*c[a-z]*$/i;
/** An option, a number, an assignment. */
const NO_PROGRAM = /^(?:[-+\d]|\w+=)/;
/** We try each argument as the beginning of a command, which takes the square of their number. */
const MOST_STARTS = 64;

const NOTHING: Hidden = { shadows: [], scripts: [], isOpaque: false };

/** What a simple command would run besides itself. `input` is what it gets to read from the line. */
export function findHidden(words: readonly ShellText[], input: readonly ShellText[]): Hidden {
  const name = words[0];
  if (name === undefined) return NOTHING;
  if (isUnknown(name) || /^$|\s/.test(name.seen)) return { ...NOTHING, isOpaque: true };
  const program = programOf(name);
  const own = readProgram(program, words, input);
  const bare = program === name.seen ? [] : [withProgram(words)];
  const starts = startsOf(program, words);
  const kept = starts.slice(0, MOST_STARTS).map((rest) => findStarted(rest, input));
  return {
    shadows: [...bare, ...kept.flatMap((each) => each.shadows)],
    scripts: [...own.scripts, ...kept.flatMap((each) => each.scripts)],
    isOpaque:
      starts.length > MOST_STARTS ||
      own.isOpaque ||
      startsUnknown(starts) ||
      kept.some((each) => each.isOpaque),
  };
}

/** A command that is started by another; its own starts are among those of the outer one. */
function findStarted(words: readonly ShellText[], input: readonly ShellText[]): Hidden {
  const name = words[0];
  if (name === undefined) return NOTHING;
  const own = readProgram(programOf(name), words, input);
  const lines = /\s/.test(name.seen) ? [name] : [];
  return {
    shadows: [join(words), withProgram(words)],
    scripts: [...own.scripts.map((script) => script.text), ...lines].map((text) => ({
      text,
      isShadow: true,
    })),
    isOpaque: own.isOpaque,
  };
}

function startsOf(program: string, words: readonly ShellText[]): (readonly ShellText[])[] {
  const isFinder = FINDERS.has(program);
  if (!isFinder && !STARTERS.has(program)) return [];
  return words
    .map((_, index) => index)
    .filter((index) => index > 0)
    .filter((index) => !isFinder || FINDER_STARTS.test(words[index - 1]?.seen ?? ""))
    .map((index) => words.slice(index));
}

/** Whether the command to start is a variable, as far as one can tell without knowing every option. */
function startsUnknown(starts: readonly (readonly ShellText[])[]): boolean {
  const first = starts.find(([name]) => name !== undefined && !NO_PROGRAM.test(name.seen))?.[0];
  return first !== undefined && isUnknown(first);
}

/** What a shell or an `eval` is given to run. */
function readProgram(
  program: string,
  words: readonly ShellText[],
  input: readonly ShellText[],
): Omit<Hidden, "shadows"> {
  const args = words.slice(1);
  if (EVALUATORS.has(program)) {
    const texts = program === "eval" ? [join(args)] : args.slice(0, 1);
    return { scripts: texts.map((text) => ({ text, isShadow: false })), isOpaque: false };
  }
  if (!SHELLS.has(program)) return NOTHING;
  const option = args.findIndex((arg) => COMMAND_OPTION.test(arg.seen));
  const operands = args.slice(option + 1).filter((arg) => !/^[-+]/.test(arg.seen));
  if (option !== -1) {
    const scripts = operands.map((text) => ({ text, isShadow: false }));
    return { scripts, isOpaque: operands.length === 0 };
  }
  // It reads a file, which is what the arguments say, or its input, which may be anything.
  const readsInput = operands.length === 0 || args.some((arg) => arg.seen === "-s");
  return {
    scripts: readsInput ? input.map((text) => ({ text, isShadow: true })) : [],
    isOpaque: readsInput || args.some(isUnknown),
  };
}

function withProgram(words: readonly ShellText[]): ShellText {
  const [name, ...rest] = words;
  if (name === undefined) return join(words);
  return join([{ seen: programOf(name), written: programOf(name) }, ...rest]);
}

/** `rm` of `/bin/rm`. */
function programOf(name: ShellText): string {
  return name.seen.slice(name.seen.lastIndexOf("/") + 1).toLowerCase();
}
