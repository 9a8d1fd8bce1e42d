import { isAbsolute } from "node:path";
import type { Clock } from "#base/clock.ts";
import { Fault } from "#contract/fault.ts";
import type { Child, ChildListener, ExitStatus, Spawner } from "#proc/child.ts";
import { checkVersions, ProgramVersions } from "./versions.ts";

export interface CheckDeps {
  readonly spawner: Spawner;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string>>;
  readonly dataPath: string;
}

/** A cold start on a busy machine. */
const CHECK_LIMIT_MS = 20_000;
const ANSWER_BYTES = 64 * 1024;
const QUOTED_CHARS = 500;

/**
 * Runs the program that is to take over, as a child, and asks it what it can read: whether it starts at all is known
 * before anything depends on it. By our own spawner, because the host reaps every child and Node would miss the end.
 */
export async function checkProgram(
  command: readonly string[],
  deps: CheckDeps,
): Promise<ProgramVersions> {
  if (!isAbsolute(command[0] ?? ""))
    throw new Fault("invalid_request", "command: the program is named by its absolute path");
  const { status, stdout, stderr } = await run(command, deps);
  const versions = ProgramVersions.safeParse(parse(stdout));
  if (status?.exit_code !== 0 || !versions.success) {
    const said = (stderr.trim() || stdout.trim()).slice(0, QUOTED_CHARS);
    const why = status === undefined ? "it did not answer in time" : said;
    throw new Fault(
      "unsupported",
      `${command.join(" ")} cannot take over, so this host goes on as it is: ${why || "it says nothing"}`,
      { details: { command, exit_code: status?.exit_code ?? null } },
    );
  }
  checkVersions(versions.data);
  return versions.data;
}

interface Answer {
  /** Undefined when it took too long. */
  readonly status: ExitStatus | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(command: readonly string[], deps: CheckDeps): Promise<Answer> {
  const ended = Promise.withResolvers<ExitStatus | undefined>();
  const said: Record<"stdout" | "stderr", Buffer[]> = { stdout: [], stderr: [] };
  let bytes = 0;
  const listener: ChildListener = {
    output(channel, chunk) {
      bytes += chunk.length;
      if (bytes <= ANSWER_BYTES) said[channel].push(Buffer.from(chunk));
    },
    exited: ended.resolve,
    final: () => undefined,
  };
  using _limit = deps.clock.timer(CHECK_LIMIT_MS, () => ended.resolve(undefined));
  using child: Child = await deps.spawner.spawn(
    {
      session_id: "upgrade-check",
      argv: [...command, "host", "check-upgrade", "--data-dir", deps.dataPath],
      work_dir: "/",
      env: deps.env,
      stdin: false,
      brief: true,
    },
    listener,
  );
  const status = await ended.promise;
  await child.endTree({ grace_ms: 0 });
  const text = (channel: "stdout" | "stderr") => Buffer.concat(said[channel]).toString("utf8");
  return { status, stdout: text("stdout"), stderr: text("stderr") };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Whatever it is, it is not the answer.
    return undefined;
  }
}
