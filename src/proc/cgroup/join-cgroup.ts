interface Joining {
  /** The cgroup's file of processes. */
  readonly procs: string;
  readonly argv: readonly string[];
  /** The file that `argv[0]` stands for. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Without the diagnostics of a shell that may not write there: they would be the program's. */
const JOIN = 'echo 0 2>/dev/null >"$0"; exec "$@"';
/** A shell hands on only what it could have set itself, and makes these its own. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const SHELLS_OWN = new Set(["IFS", "OPTIND", "PPID", "LINENO"]);

/**
 * The argv of a shell that joins the cgroup and becomes the program, with the program's own argv and environment;
 * undefined where a shell cannot do that faithfully.
 */
export function joinCgroup({ procs, argv, program, env }: Joining): readonly string[] | undefined {
  const [name = "", ...rest] = argv;
  const odd = Object.entries(env).filter(([key]) => !NAME.test(key) || SHELLS_OWN.has(key));
  // By its name, so that the program finds its own argv[0]; by its path where the name could be read as an option.
  const command = name.startsWith("-") || env.PATH === undefined ? program : name;
  const through = odd.length === 0 ? [] : ["/usr/bin/env", ...odd.map(([k, v]) => `${k}=${v}`)];
  if (through.length > 0 && command.includes("=")) return undefined;
  return ["/bin/sh", "-c", JOIN, procs, ...through, command, ...rest];
}
