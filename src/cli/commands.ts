/** What `reins` can do. Plain data and lazy imports: a command loads nothing but itself. */
export interface CommandSpec {
  readonly summary: string;
  readonly usage: string;
  readonly options: readonly (readonly [flag: string, meaning: string])[];
  readonly examples: readonly string[];
  /** Not shown in the list of commands. */
  readonly hidden?: boolean;
  /** Its words are a program and its options, so `--help` behind them is not ours. */
  readonly takesProgram?: boolean;
  readonly load: () => Promise<{ readonly run: Command }>;
}

/** Gets the words behind the command's name and answers the exit code. */
export type Command = (argv: readonly string[]) => Promise<number>;

const DATA_DIR_OPTION = [
  "--data-dir DIR",
  "where everything is kept (default: as for the other commands)",
] as const;
const JSON_OPTION = ["--json", "print data for programs"] as const;

export const commands: Readonly<Record<string, CommandSpec>> = {
  run: {
    summary: "Start a command or a shell that outlives this terminal.",
    usage: "reins run [options] [--] [COMMAND [ARGUMENT…]]",
    options: [
      ["-d, --detach", "start it and return at once; prints its id"],
      ["--tty, --no-tty", "with or without a terminal (default: as stdin is)"],
      ["--title TEXT", "a name for people"],
      ["--cwd DIR", "where to run (default: here)"],
      ["--idle-timeout SECONDS", "close it after so long without input or output"],
      ["--lifetime SECONDS", "close it after so long"],
      JSON_OPTION,
    ],
    examples: ["reins run", "reins run -- npm test", "reins run -d --tty -- htop"],
    takesProgram: true,
    load: () => import("./run.ts"),
  },
  exec: {
    summary: "Run a command as the tools for models do: no questions, its exit code passed on.",
    usage: "reins exec [options] -- COMMAND [ARGUMENT…]",
    options: [
      ["--background", "start it and return at once; prints its id"],
      ["--timeout TIME", "wait so long, such as 30s or 5m, then leave it and exit with 124"],
      ["--lifetime TIME", "end it and all that it started after so long"],
      ["--cwd DIR", "where to run (default: here)"],
      ["--tty", "give it a terminal"],
      ["--json", "print the result that a model would get, at the end"],
    ],
    examples: [
      "reins exec -- npm test",
      "reins exec --timeout 30s -- 'make && make check'",
      "reins exec --background -- npm start",
    ],
    takesProgram: true,
    load: () => import("./process/exec.ts"),
  },
  wait: {
    summary: "Wait until a session has ended; its exit code is passed on.",
    usage: "reins wait [options] ID",
    options: [["--timeout TIME", "wait so long at most, then exit with 124"], JSON_OPTION],
    examples: ["reins wait ses_4k2m", "reins wait --timeout 5m ses_4k2m"],
    load: () => import("./process/wait.ts"),
  },
  signal: {
    summary: "Send a signal to a session and everything that it started.",
    usage: "reins signal [options] ID SIGNAL",
    options: [["--escalate-after TIME", "kill what is left after so long"], JSON_OPTION],
    examples: ["reins signal ses_4k2m INT", "reins signal --escalate-after 5s ses_4k2m TERM"],
    load: () => import("./process/signal.ts"),
  },
  attach: {
    summary: "Get back to a session: see it, type into it.",
    usage: "reins attach [options] [ID]",
    options: [
      ["--takeover", "take control from whoever holds it"],
      ["--view", "only watch"],
      ["--since N", "replay from this offset (default: the last part)"],
    ],
    examples: ["reins attach", "reins attach ses_4k2m", "reins attach --view ses_4k2m"],
    load: () => import("./attach.ts"),
  },
  ps: {
    summary: "List sessions.",
    usage: "reins ps [options]",
    options: [["-a, --all", "also those that have ended"], JSON_OPTION],
    examples: ["reins ps", "reins ps -a --json"],
    load: () => import("./ps.ts"),
  },
  logs: {
    summary: "Print what a session has printed.",
    usage: "reins logs [options] [ID]",
    options: [
      ["-f, --follow", "go on until the session has ended"],
      ["--since N", "from this offset; `tail` is the end"],
      JSON_OPTION,
    ],
    examples: ["reins logs ses_4k2m", "reins logs -f --since tail ses_4k2m"],
    load: () => import("./logs.ts"),
  },
  close: {
    summary: "End sessions and everything that they started.",
    usage: "reins close [options] ID…",
    options: [
      ["--reason TEXT", "kept with the session"],
      ["--purge", "remove the logs as well"],
      JSON_OPTION,
    ],
    examples: ["reins close ses_4k2m", 'reins close --reason "done" ses_4k2m ses_9x1c'],
    load: () => import("./close.ts"),
  },
  serve: {
    summary: "Let browsers and programs in: HTTP, events and WebSockets.",
    usage: "reins serve [options] | reins serve mcp [--owner NAME] [--data-dir DIR]",
    options: [
      ["--listen HOST:PORT", "where (default: 127.0.0.1:7346; port 0 picks one)"],
      ["--public-url URL", "how the world sees it, when something stands before it"],
      ["--tls-cert FILE", "with --tls-key: serve TLS"],
      ["--tls-key FILE", "the key of the certificate"],
      ["--allow-insecure", "listen beyond this machine without TLS"],
      ["--owner NAME", "with mcp, which serves one client on stdio: whose processes it sees"],
      DATA_DIR_OPTION,
      JSON_OPTION,
    ],
    examples: ["reins serve", "reins serve --listen 127.0.0.1:0 --json", "reins serve mcp"],
    load: () => import("./serve.ts"),
  },
  token: {
    summary: "Make, list and revoke the tokens that let callers in.",
    usage:
      "reins token create --user ID --role ROLE [options] | reins token list | reins token revoke ID…",
    options: [
      ["--user ID", "whose it is; with list: only this user's"],
      ["--role ROLE", "viewer, operator or admin"],
      ["--workspace ID", "where it is good for, may be repeated (default: everywhere)"],
      ["--expires TIME", "after so long, such as 30d, 12h or 1h30m (default: never)"],
      ["--label TEXT", "a name for people"],
      DATA_DIR_OPTION,
      JSON_OPTION,
    ],
    examples: [
      "reins token create --user ada --role operator --expires 30d",
      "reins token list",
      "reins token revoke tok_0123456789abcdef",
    ],
    load: () => import("./admin/token.ts"),
  },
  workspace: {
    summary: "Make, list and delete workspaces.",
    usage: "reins workspace create NAME | reins workspace list | reins workspace delete ID…",
    options: [DATA_DIR_OPTION, JSON_OPTION],
    examples: ["reins workspace create website", "reins workspace list --json"],
    load: () => import("./admin/workspace.ts"),
  },
  task: {
    summary: "Make, list and delete tasks: directories that terminals are opened for.",
    usage: "reins task create [options] [DIR] | reins task list [options] | reins task delete ID…",
    options: [
      ["--workspace ID", "where it belongs (default: wsp_local); with list: only there"],
      ["--issue ID", "what it is about; with list: only these"],
      ["--prior-session ID", "the agent's session that a person may want to resume"],
      ["--title TEXT", "a name for people (default: the directory's)"],
      DATA_DIR_OPTION,
      JSON_OPTION,
    ],
    examples: ["reins task create --issue WEB-12 ~/website", "reins task list --issue WEB-12"],
    load: () => import("./admin/task.ts"),
  },
  host: {
    summary: "Serve sessions; started by the other commands when it is needed.",
    usage: "reins host [--data-dir DIR] | reins host stop | reins host status",
    options: [
      [
        "--data-dir DIR",
        "where the logs are (default: $REINS_HOME, else the user's state directory)",
      ],
      JSON_OPTION,
    ],
    examples: ["reins host status", "reins host stop"],
    load: () => import("./host.ts"),
  },
};
