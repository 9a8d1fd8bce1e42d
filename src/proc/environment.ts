/** The environment of a child. Nothing of ours but the names below reaches it, whoever asked. */
interface EnvironmentParts {
  /** The caller's own environment (a local cli) or the allowed part of ours, and what was asked for. */
  readonly base: Readonly<Record<string, string>>;
  readonly pty: boolean;
  readonly marks: {
    readonly session_id: string;
    readonly workspace_id: string;
    readonly task_id?: string | undefined;
    readonly issue_id?: string | undefined;
    readonly user_id?: string | undefined;
    readonly prior_session_id?: string | undefined;
    readonly agent?: boolean | undefined;
    /** Whose connection to the host is used inside; absent = the user's. */
    readonly bound_session_id?: string | undefined;
  };
}

const OURS = /^REINS_/;
/** Where the data is, so that `reins` inside a session finds the same host; which sessions show this one. No secrets. */
const KEPT = new Set(["REINS_HOME", "REINS_OUTER_SESSIONS"]);
/** For a daemon itself; see guard-memory.ts. */
const OF_DAEMONS = new Set(["REINS_DUMPABLE"]);

const NETWORK_NAMES = new Set([
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "TZ",
  "SSH_AUTH_SOCK",
]);
const NETWORK_PREFIXES = ["LC_", "XDG_"];

export function buildEnvironment(parts: EnvironmentParts): Record<string, string> {
  const env = Object.fromEntries(
    Object.entries(parts.base).filter(([name]) => !OURS.test(name) || KEPT.has(name)),
  );
  if (parts.pty) describeTerminal(env);
  const { marks } = parts;
  const ours: Record<string, string | undefined> = {
    REINS_SESSION_ID: marks.session_id,
    REINS_WORKSPACE_ID: marks.workspace_id,
    REINS_TASK_ID: marks.task_id,
    REINS_ISSUE_ID: marks.issue_id,
    REINS_USER_ID: marks.user_id,
    CLAUDE_SESSION_ID: marks.prior_session_id,
    REINS_AGENT: marks.agent === true ? "1" : undefined,
    REINS_BOUND_SESSION_ID: marks.bound_session_id,
  };
  for (const [name, value] of Object.entries(ours)) if (value !== undefined) env[name] = value;
  return env;
}

/**
 * Variables by which another terminal, multiplexer or editor names itself to the programs inside of it. A session is attached
 * to from any terminal, so none of them may be the one that it was started from.
 */
const OUTER_TERMINAL = new Set([
  "TMUX",
  "TMUX_PANE",
  "STY",
  "WINDOW",
  "WINDOWID",
  "TERMCAP",
  "TERM_PROGRAM",
  "TERM_PROGRAM_VERSION",
  "TERM_SESSION_ID",
  "COLORFGBG",
  "LC_TERMINAL",
  "LC_TERMINAL_VERSION",
  "VTE_VERSION",
  "XTERM_VERSION",
  "XTERM_LOCALE",
  "XTERM_SHELL",
  "MLTERM",
  "TILIX_ID",
  "TERMINATOR_UUID",
  "WT_SESSION",
  "WT_PROFILE_ID",
  "INSIDE_EMACS",
  "NVIM",
  "VIM_TERMINAL",
  "MC_SID",
  // The name of the outer terminal's device, and its size, which programs believe more than their own terminal's.
  "SSH_TTY",
  "GPG_TTY",
  "LINES",
  "COLUMNS",
]);
const OUTER_PREFIXES = [
  "ALACRITTY_",
  "GHOSTTY_",
  "GNOME_TERMINAL_",
  "ITERM_",
  "KITTY_",
  "KONSOLE_",
  "WEZTERM_",
  "ZELLIJ",
];

/** Describes our own terminal, and removes every variable of another one. */
function describeTerminal(env: Record<string, string>): void {
  for (const name of Object.keys(env))
    if (OUTER_TERMINAL.has(name) || OUTER_PREFIXES.some((prefix) => name.startsWith(prefix)))
      delete env[name];
  env.TERM = "xterm-256color";
  env.COLORTERM = "truecolor";
}

/** What callers over the network get of our environment. */
export function allowedForNetwork(
  env: Readonly<Record<string, string | undefined>>,
  passthrough: readonly string[],
): Record<string, string> {
  const names = new Set([...NETWORK_NAMES, ...passthrough]);
  const isAllowed = (name: string) =>
    names.has(name) || NETWORK_PREFIXES.some((prefix) => name.startsWith(prefix));
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && isAllowed(entry[0]),
    ),
  );
}

/** For the host and the gateway themselves: a daemon started inside a session is no part of it. */
export function withoutMarks(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && (!OURS.test(entry[0]) || OF_DAEMONS.has(entry[0])),
    ),
  );
}

/** The part of our environment that a host gets when it is started on demand. */
export function allowedForHost(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return allowedForNetwork(env, [...OF_DAEMONS]);
}
