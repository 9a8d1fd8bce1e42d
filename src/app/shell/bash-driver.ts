import { createHash } from "node:crypto";
import { quote } from "#base/shell-quote.ts";
import { limits } from "#contract/limits.ts";

/**
 * How bash starts from a saved state, runs a command and saves the state back.
 *
 *   bash -c LINE     trap SAVE on EXIT; source RESTORE; eval "$(<command)"; SAVE
 *   RESTORE          sources `state` and turns the saved options on; those that would show or stop our own lines last,
 *                    if need be in front of the command
 *   SAVE             in a subshell, writes `<run>.state`; its last line is the run's id, so a half one is known as such
 *
 * The user's text is never part of ours: it comes from a file and goes to `eval` as a value. It may define functions and
 * aliases by any name, so our words are quoted against aliases and called by `builtin` against functions. A function
 * named `builtin` is got rid of in POSIX mode, which an assignment turns on and in which `unset` is found before any
 * function. In LINE nothing of ours is traced: what runs before tracing is off has its output thrown away.
 */
interface RunFiles {
  readonly folder: string;
  readonly run_id: string;
}

export function describeRun({ folder, run_id }: RunFiles): string[] {
  const inside = (name: string) => quote(`${folder}/${name}`);
  const save = [
    "( { __reins_x=@{POSIXLY_CORRECT=}; \\set +evxu; } >/dev/null 2>&1;",
    `__reins_id=${run_id}; { \\. ${inside(SAVE_FILE)}; } >|${inside(stateFile(run_id))};`,
    '\\builtin exit "$__reins_rc" )',
  ].join(" ");
  const onExit = [
    `{ ${CAPTURE}; __reins_x=@{POSIXLY_CORRECT=}; \\set +xv; \\trap - DEBUG ERR; } >/dev/null 2>&1`,
    `case @{__reins_done-} in 1) ;; *) ${save} ;; esac`,
  ];
  const line = [
    // A line is read after the one before has run, so with `set -v` only the first shows.
    `\\trap ${onExit.map(quote).join("$'\\n'")} EXIT`,
    `__reins_dir=${quote(folder)} __reins_id=${run_id}`,
    `\\. ${inside(RESTORE_FILE)}`,
    `\\builtin eval "@{__reins_first-}$(<${inside(commandFile(run_id))})"`,
    `{ ${CAPTURE} __reins_done=1; __reins_x=@{POSIXLY_CORRECT=}; \\trap - DEBUG ERR; ${LEAVE_POSIX}; } >/dev/null 2>&1`,
    save,
  ].join("; ");
  return ["bash", "--norc", "--noprofile", "-c", bash(line), "bash"];
}

/** The run that a session's program was made for; undefined when it is none of ours. */
export function findRunId(argv: readonly string[]): string | undefined {
  return / __reins_id=(run_[0-9a-z]{16});/.exec(argv[4] ?? "")?.[1];
}

export const STATE_FILE = "state";

export function stateFile(runId: string): string {
  return `${runId}.state`;
}

export function commandFile(runId: string): string {
  return `${runId}.command`;
}

/** The line before the working directory and the id, with which a complete state ends. */
export function endMark(runId: string): string {
  return `\\builtin return # ${runId}`;
}

/** What a shell starts from before its first run. */
export function firstState(
  env: Readonly<Record<string, string>>,
  { umask, work_dir }: { readonly umask: number | undefined; readonly work_dir: string },
): string {
  const dir = quote(work_dir);
  return [
    "__reins_last () {",
    ...LAST_BEGINS,
    "}",
    `cd -- ${dir} || __reins_gone=${dir}`,
    ...(umask === undefined ? [] : [`umask ${umask.toString(8).padStart(4, "0")}`]),
    ...Object.entries(env)
      .filter(([name]) => isVariable(name))
      .map(([name, value]) => `declare -x ${name}=${quote(value)}`),
    "",
  ].join("\n");
}

/** Whether bash can hold it as a variable that it does not make itself. */
export function isVariable(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !BASH_OWN.has(name) && !name.startsWith("REINS_");
}

/** Those of the environment that would change how our own lines are read, or that bash refuses to be told. */
const BASH_OWN = new Set([
  ..."BASHOPTS SHELLOPTS BASH_ENV ENV IFS POSIXLY_CORRECT BASH_XTRACEFD EUID UID PPID".split(" "),
  ..."BASH_VERSINFO PWD OLDPWD _".split(" "),
]);

/** The last thing before the command: options that would show or stop our own lines. */
const LAST_BEGINS = ["\\builtin unset -f __reins_last", '\\builtin set "$@"'];

const KIB = 1024;

/** For an EXIT trap of the user's, which runs after us. */
const LEAVE_POSIX = "case :$__reins_set: in *:posix:*) ;; *) \\unset -v POSIXLY_CORRECT ;; esac";

/** What the save is about to change: the exit code, the options. */
const CAPTURE =
  "__reins_rc=$? __reins_set=$SHELLOPTS __reins_shopt=$BASHOPTS __reins_posix=@{POSIXLY_CORRECT-}";

/** In the texts below `@{` stands for the dollar sign and brace that TypeScript would read as its own. */
const bash = (text: string) => text.replaceAll("@{", "${");

/**
 * Sourced first, in a bash that knows nothing yet. From the state on, functions of the user's are there; his aliases
 * from the last line on.
 */
export const RESTORE = bash(String.raw`__reins_marks=()
for __reins_x in "@{!REINS_@}"; do __reins_marks+=("$__reins_x=@{!__reins_x}"); done
__reins_fresh=$BASHOPTS:extglob __reins_shopt=$BASHOPTS:expand_aliases
__reins_set=$SHELLOPTS __reins_posix=
unset -v "@{!REINS_@}"
shopt -s extglob
. "$__reins_dir/state" >/dev/null 2>&1
{
  \builtin unset -v "@{!REINS_@}" 2>/dev/null
  \builtin export "@{__reins_marks[@]}" 2>/dev/null
  RANDOM=@{SRANDOM:-$$}
  case @{__reins_gone-} in
    '') ;;
    *)
      \builtin cd .
      \builtin printf 'reins: %s cannot be entered any more; this run starts in %s\n' "$__reins_gone" "$PWD" >&2
      ;;
  esac
  __reins_first='\builtin unset -v "@{!__reins_@}"; __reins_last'
  case :$__reins_set: in
    *:posix:*)
      case $__reins_posix in
        '' | y) ;;
        *) \builtin printf -v __reins_first '\\builtin export POSIXLY_CORRECT=%q; %s' "$__reins_posix" "$__reins_first" ;;
      esac
      ;;
  esac
  for __reins_x in braceexpand hashall interactive-comments; do
    case :$__reins_set: in *:"$__reins_x":*) ;; *) __reins_first+=" +o $__reins_x" ;; esac
  done
  __reins_rest=$__reins_set:
  while [[ -n $__reins_rest ]]; do
    __reins_x=@{__reins_rest%%:*} __reins_rest=@{__reins_rest#*:}
    case $__reins_x in '' | noexec | onecmd | privileged) ;; *) __reins_first+=" -o $__reins_x" ;; esac
  done
  __reins_rest=$__reins_fresh:
  while [[ -n $__reins_rest ]]; do
    __reins_x=@{__reins_rest%%:*} __reins_rest=@{__reins_rest#*:}
    case :$__reins_shopt: in *:"$__reins_x":*) ;; *) \builtin shopt -u "$__reins_x" 2>/dev/null ;; esac
  done
  __reins_rest=$__reins_shopt:
  while [[ -n $__reins_rest ]]; do
    __reins_x=@{__reins_rest%%:*} __reins_rest=@{__reins_rest#*:}
    case $__reins_x in '') ;; *) \builtin shopt -s "$__reins_x" 2>/dev/null ;; esac
  done
  case :$__reins_set:@{__reins_own-} in
    *:xtrace:* | *:1) __reins_first+=$'\n' ;;
    *) \builtin eval "$__reins_first" ;;
  esac
}
`);

/**
 * Sourced in a subshell, in POSIX mode, its output is the new state. The first lines get a `builtin` that is bash's own
 * and keep the user's for later, then POSIX mode is left. Functions named `builtin` and `declare` are defined by
 * `__reins_last`, after the lines that need the real ones. What bash sets at its start is unset by the state, so that an
 * `unset` of the user's is kept. When `exit` came from inside a function, its local variables
 * still hide the global ones: the global one is marked by an attribute and the others are unset until it shows.
 */
export const SAVE =
  bash(String.raw`\export -nf builtin 2>/dev/null && ( \unset -f declare printf; \printf '%s\n' '__reins_last () {' ${LAST_BEGINS.map(quote).join(" ")}; \declare -f builtin ) && __reins_own=1
\unset -f builtin
\unset -v POSIXLY_CORRECT
\builtin shopt -u expand_aliases extdebug failglob nullglob nocasematch
\builtin set +aefkuvxCETm
\builtin trap - DEBUG ERR RETURN
\builtin trap '' XFSZ
{
  \builtin ulimit -S -f ${Math.floor(limits.shell_state_bytes / KIB)}
  case @{__reins_own-} in
    '') \builtin printf '%s\n' '__reins_last () {' ${LAST_BEGINS.map(quote).join(" ")} ;;
  esac
  \builtin declare -f declare
  \builtin printf '}\n'
  \builtin unset -f declare
  __reins_cwd=@{DIRSTACK[0]-}
  case $__reins_cwd in /*) ;; *) __reins_cwd=$PWD ;; esac
  \builtin printf 'cd -- %q || __reins_gone=%q\n' "$__reins_cwd" "$__reins_cwd"
  for ((__reins_x = @{#DIRSTACK[@]} - 1; __reins_x > 0; __reins_x--)); do
    \builtin printf 'pushd -n -- %q\n' "@{DIRSTACK[__reins_x]}"
  done
  \builtin printf 'unset -v IFS PATH PS4 TERM HOSTNAME HOSTTYPE MACHTYPE OSTYPE OPTERR OPTIND SHELL SHLVL OLDPWD\n'
  \builtin umask -p
  \builtin alias -p
  if ((@{#FUNCNAME[@]} > 1)); then
    __reins_reveal () { \builtin unset -v "$1"; }
    while IFS= \builtin read -r __reins_x; do
      case $__reins_x in __reins_* | BASH* | FUNCNAME | DIRSTACK | GROUPS | _) \builtin continue ;; esac
      \builtin declare -gt "$__reins_x"
      while \builtin eval "__reins_mark=\@{$__reins_x@a}"; do
        case $__reins_mark in *t*) \builtin break ;; esac
        __reins_reveal "$__reins_x" || \builtin break
      done
      \builtin declare -g +t "$__reins_x"
    done < <(\builtin compgen -v)
    \builtin unset -f __reins_reveal
  fi
  \builtin unset -v BASH_ALIASES BASH_CMDS
  \builtin declare -p && \builtin declare -f && \builtin declare -F &&
    \builtin printf '%s\n' "\\builtin return # $__reins_id" "$__reins_cwd" "$__reins_id"
} 2>/dev/null || \builtin printf 'reins: the state of this shell was not saved: it takes more than %s bytes, or the disk is full; the next run starts from the state before\n' ${limits.shell_state_bytes} >&2
`);

/** Named by what is in them: those of another version are other files, and one that is there need not be written. */
const nameOf = (word: string, text: string) =>
  `${word}-${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
export const RESTORE_FILE = nameOf("restore", RESTORE);
export const SAVE_FILE = nameOf("save", SAVE);
