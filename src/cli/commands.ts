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
const TO_OPTION = ["--to TARGET", "which session (default: the newest that lives)"] as const;
const REMOTE_OPTION = [
  "--remote URL",
  "on that server, with the token in $REINS_TOKEN or this machine's own",
] as const;

export const commands: Readonly<Record<string, CommandSpec>> = {
  run: {
    summary: "Start a command, a shell or a team of agents that outlives this terminal.",
    usage: "reins run [options] [--] [COMMAND [ARGUMENT…]] | reins run TEAM [PROMPT…] [options]",
    options: [
      ["-d, --detach", "start it and return at once; prints its id"],
      ["--tty, --no-tty", "with or without a terminal (default: as stdin is)"],
      ["--cwd DIR", "where to run (default: here)"],
      ["--idle-timeout SECONDS", "close it after so long without input or output"],
      ["--lifetime SECONDS", "close it after so long"],
      ["--title TEXT", "a name for people"],
      ["--task ID", "for this task, in its directory"],
      ["--json", "print frames, or the events of an agent, for programs"],
      [
        "--on-event TYPE=CMD",
        "a shell command told of such events on its stdin; * is all; repeatable",
      ],
      ["--exec", "a team: nobody answers, so what would ask is refused; prints the answers"],
      ["--dry-run", "check the team and say what is in it; starts nothing"],
      ["--agent NAME", "which agent starts (default: root, or the first)"],
      ["--model [AGENT=]MODEL", "another model, as provider/model; may be repeated"],
      ["--prompt-file FILE", "added to the agents' instructions; may be repeated"],
      ["--working-dir DIR", "where the agents work (default: here)"],
      ["--safety MODE", "strict, balanced, restricted or autonomous"],
      ["--session ID", "go on with this session, -1 is the newest; its team need not be named"],
      ["--listen ADDRESS", "serve this run alone, at HOST:PORT or a unix socket's path"],
      ["--tls-cert FILE", "with --tls-key and --listen: serve TLS"],
      ["--tls-key FILE", "the key of the certificate"],
      ["--allow-insecure", "with --listen: also beyond this machine without TLS"],
      ["--remote URL", "on that server, with the token in $REINS_TOKEN or this machine's own"],
    ],
    examples: [
      "reins run",
      "reins run -- npm test",
      "reins run -d --tty -- htop",
      "reins run -d --listen 127.0.0.1:0 -- npm start",
      "reins run team.yaml",
      'reins run team.yaml --exec "Fix the tests." "Now the docs."',
    ],
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
    summary: "Wait until a session has ended, whose exit code is passed on, or for something else.",
    usage: "reins wait [options] ID | reins wait --for WHAT [options] [ID]",
    options: [
      TO_OPTION,
      ["--for WHAT", "exit, idle, text, regex or needs-answer"],
      ["--text TEXT", "for text: which"],
      ["--regex PATTERN", "for regex: which"],
      [
        "--idle TIME",
        "for idle: so long without output (default: 2s); an agent: until no turn runs",
      ],
      ["--since N", "for text and regex: look from this offset; `tail` is the end"],
      ["--timeout TIME", "wait so long at most, then exit with 124"],
      REMOTE_OPTION,
      JSON_OPTION,
    ],
    examples: [
      "reins wait ses_4k2m",
      "reins wait --timeout 5m ses_4k2m",
      'reins wait --text "Listening on" --timeout 30s',
      "reins wait --for needs-answer --to ses_4k2m",
    ],
    load: () => import("./control/wait.ts"),
  },
  signal: {
    summary: "Send a signal to a session and everything that it started.",
    usage: "reins signal [options] ID SIGNAL",
    options: [["--escalate-after TIME", "kill what is left after so long"], JSON_OPTION],
    examples: ["reins signal ses_4k2m INT", "reins signal --escalate-after 5s ses_4k2m TERM"],
    load: () => import("./process/signal.ts"),
  },
  attach: {
    summary: "Get back to a session: see it, type into it, talk to an agent.",
    usage: "reins attach [options] [ID]",
    options: [
      ["--takeover", "take control from whoever holds it"],
      ["--view", "only watch"],
      ["--since N", "replay from this offset (default: the last part); not for agents"],
      ["--to TARGET", "which one (default: the newest)"],
      ["--remote URL", "an agent on that server"],
    ],
    examples: ["reins attach", "reins attach ses_4k2m", "reins attach --view ses_4k2m"],
    load: () => import("./attach.ts"),
  },
  ps: {
    summary: "List sessions.",
    usage: "reins ps [options]",
    options: [
      ["-a, --all", "also those that have ended, and those that another session started"],
      REMOTE_OPTION,
      JSON_OPTION,
    ],
    examples: ["reins ps", "reins ps -a --json"],
    load: () => import("./ps.ts"),
  },
  logs: {
    summary: "Print what a session has printed.",
    usage: "reins logs [options] [ID]",
    options: [
      ["-f, --follow", "go on until the session has ended"],
      ["--since N", "from this offset; `tail` is the end"],
      TO_OPTION,
      REMOTE_OPTION,
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
      ["--to TARGET", "one more of them; may be repeated"],
      REMOTE_OPTION,
      JSON_OPTION,
    ],
    examples: ["reins close ses_4k2m", 'reins close --reason "done" ses_4k2m ses_9x1c'],
    load: () => import("./close.ts"),
  },
  send: {
    summary: "Say something to an agent, or type a line into a terminal or a command.",
    usage: "reins send [options] MESSAGE|-",
    options: [
      TO_OPTION,
      ["--followup", "an agent: not now, but when its turn is done"],
      ["--framing HOW", "an agent in a turn: plain, instruction or replacement"],
      ["--no-enter", "a terminal or a command: without the Enter behind it"],
      ["--takeover", "a terminal: also when somebody else controls it"],
      REMOTE_OPTION,
      JSON_OPTION,
    ],
    examples: [
      'reins send "Also run the linter."',
      'reins send --followup "Now the docs." --to ses_4k2m',
      "git diff | reins send -",
    ],
    load: () => import("./control/send.ts"),
  },
  watch: {
    summary: "Print the events of a session as they happen, one a line.",
    usage: "reins watch [options] [ID]",
    options: [
      TO_OPTION,
      ["--since N", "from the event behind this offset; `tail` is the end (default: 0)"],
      ["--pretty", "for people"],
      REMOTE_OPTION,
      ["--json", "as it is in any case"],
    ],
    examples: ["reins watch | jq .type", "reins watch --pretty --since tail ses_4k2m"],
    load: () => import("./control/watch.ts"),
  },
  answer: {
    summary: "Answer an agent that asks; without an answer, show what it asks.",
    usage:
      "reins answer [options] [approve|reject|approve-tool|approve-session | FIELD=VALUE… | --decline]",
    options: [
      TO_OPTION,
      ["--id ID", "which question, when there are several"],
      ["--reason TEXT", "with reject: what the agent is told"],
      ["--decline", "a question: leave it without an answer"],
      REMOTE_OPTION,
      JSON_OPTION,
    ],
    examples: [
      "reins answer",
      "reins answer approve",
      'reins answer reject --reason "Not on a Friday."',
      "reins answer colour=green size=3",
    ],
    load: () => import("./control/answer.ts"),
  },
  interrupt: {
    summary: "Stop what a session does right now; the session stays.",
    usage: "reins interrupt [options] [ID]",
    options: [TO_OPTION, REMOTE_OPTION, JSON_OPTION],
    examples: ["reins interrupt", "reins interrupt ses_4k2m"],
    load: () => import("./control/interrupt.ts"),
  },
  screen: {
    summary: "Print what stands on a terminal's screen.",
    usage: "reins screen [options] [ID]",
    options: [
      TO_OPTION,
      ["--at OFFSET", "as it was behind this offset of the output"],
      REMOTE_OPTION,
      JSON_OPTION,
    ],
    examples: ["reins screen", "reins screen --json ses_4k2m"],
    load: () => import("./control/screen.ts"),
  },
  fork: {
    summary: "Make another agent session that begins with the messages of this one.",
    usage: "reins fork [options] [ID]",
    options: [
      TO_OPTION,
      ["--at N", "with the first N messages only (default: all)"],
      REMOTE_OPTION,
      JSON_OPTION,
    ],
    examples: ["reins fork", "reins fork --at 4 ses_4k2m"],
    load: () => import("./control/fork.ts"),
  },
  export: {
    summary: "Write a session as a recording, plain text, JSON or Markdown.",
    usage: "reins export [options] [ID]",
    options: [
      TO_OPTION,
      ["-f, --format FORMAT", "asciicast, json, markdown or text (default: text; agents markdown)"],
      ["-o, --output FILE", "into this file (default: to stdout)"],
      REMOTE_OPTION,
      ["--json", "with -o: print what was written"],
    ],
    examples: ["reins export ses_4k2m", "reins export --format asciicast -o demo.cast ses_4k2m"],
    load: () => import("./control/export.ts"),
  },
  serve: {
    summary: "Let browsers and programs in: HTTP, events and WebSockets.",
    usage:
      "reins serve [options] | reins serve mcp [options] | reins serve mcp TEAM [options] | reins serve mcp --attach[=TARGET]",
    options: [
      ["--listen HOST:PORT", "where (default: 127.0.0.1:7346; port 0 picks one)"],
      ["--public-url URL", "how the world sees it, when something stands before it"],
      ["--tls-cert FILE", "with --tls-key: serve TLS"],
      ["--tls-key FILE", "the key of the certificate"],
      ["--allow-insecure", "listen beyond this machine without TLS"],
      ["--owner NAME", "with mcp, which serves one client on stdio: whose processes it sees"],
      ["--agent NAME", "with mcp TEAM: serve this agent as a tool; may be repeated (default: all)"],
      ["--attach[=TARGET]", "with mcp: serve one run, by default the newest, as tools"],
      ["--remote URL", "with mcp --attach: a run on that server"],
      DATA_DIR_OPTION,
      JSON_OPTION,
    ],
    examples: [
      "reins serve",
      "reins serve --listen 127.0.0.1:0 --json",
      "reins serve mcp",
      "reins serve mcp team.yaml",
      "reins serve mcp --attach=ses_4k2m",
    ],
    load: () => import("./serve.ts"),
  },
  proto: {
    summary: "Steer a run from a program: one JSON object a line, both ways.",
    usage: "reins proto [options]",
    options: [
      ["--to TARGET", "which run (default: the newest)"],
      ["--since N", "forward events from this offset (default: from now on)"],
      ["--remote URL", "on that server, with the token in $REINS_TOKEN or this machine's own"],
      ["--json", "as it is in any case"],
    ],
    examples: ["reins proto", "reins proto --to ses_4k2m --since 0"],
    load: () => import("./proto/proto.ts"),
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
  doctor: {
    summary: "Check whether everything that Reins needs is there and right.",
    usage: "reins doctor [options]",
    options: [JSON_OPTION],
    examples: ["reins doctor", "reins doctor --json"],
    load: () => import("./doctor/doctor.ts"),
  },
  completion: {
    summary: "Print the script that completes commands, options and ids in a shell.",
    usage: "reins completion bash|zsh|fish",
    options: [],
    examples: ["reins completion bash", "reins completion fish"],
    load: async () => {
      const { createCompletion } = await import("./completion/completion.ts");
      return { run: createCompletion(commands) };
    },
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
  agent: {
    summary: "One life of an agent session; started by the host.",
    usage: "reins agent [--park-after MS]",
    options: [["--park-after MS", "end after so long without work, until it is needed again"]],
    examples: ["reins agent"],
    hidden: true,
    load: () => import("./team/agent.ts"),
  },
};
