/** The environment of a child. Nothing of ours but the names below reaches it, whoever asked. */
export interface EnvironmentParts {
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
  if (parts.pty) env.TERM = "xterm-256color";
  const { marks } = parts;
  const ours: Record<string, string | undefined> = {
    REINS_SESSION_ID: marks.session_id,
    REINS_WORKSPACE_ID: marks.workspace_id,
    REINS_TASK_ID: marks.task_id,
    REINS_ISSUE_ID: marks.issue_id,
    REINS_USER_ID: marks.user_id,
    CLAUDE_SESSION_ID: marks.prior_session_id,
    REINS_AGENT: marks.agent === true ? "1" : undefined,
  };
  for (const [name, value] of Object.entries(ours)) if (value !== undefined) env[name] = value;
  return env;
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

/** What a host that is started on demand gets of our environment. */
export function allowedForHost(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return allowedForNetwork(env, [...OF_DAEMONS]);
}
