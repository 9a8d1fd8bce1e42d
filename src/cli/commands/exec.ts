import { addAbortListener } from "node:events";
import { resolve } from "node:path";
import { quoteIfNeeded } from "#base/shell-quote.ts";
import { parseTime } from "#cli/control/parse-time.ts";
import { parseOptions, splitCommand } from "#cli/program/options.ts";
import { printableJson } from "#cli/program/printable.ts";
import { openOwn } from "#cli/target/open-client.ts";
import { LATE_EXIT, onSignals, runPiped, sayLeft } from "#cli/terminal/piped.ts";
import type { Client } from "#client/client.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { Session } from "#contract/session.ts";
import type { ProcessResult } from "#contract/tools/process.ts";
import type { ToolInput } from "#contract/tools/tools.ts";
import { defined } from "#contract/values/defined.ts";

const options = {
  background: { type: "boolean" },
  timeout: { type: "string" },
  lifetime: { type: "string" },
  cwd: { type: "string" },
  tty: { type: "boolean" },
  json: { type: "boolean" },
} as const;
const VALUED = ["--timeout", "--lifetime", "--cwd"];

export async function run(argv: readonly string[]): Promise<number> {
  const { ours, command } = splitCommand(argv, VALUED);
  const { values } = parseOptions(ours, options);
  const input = createInput(values, command);
  await using client = await openOwn({ attaches: true });
  const started = Promise.withResolvers<Started>();
  const onStarted = (id: string) => started.resolve({ session_id: id as Session["session_id"] });
  const leaving = new AbortController();
  const running = client.execute(input, { signal: leaving.signal, onStarted });
  const session = await Promise.race([started.promise, running.then(() => started.promise)]);
  if (values.json === true) return await printResult(client, session, { running, leaving });
  if (values.background === true) {
    await running;
    process.stdout.write(`${session.session_id}\n`);
    return 0;
  }
  const late = new AbortController();
  const waited = Promise.allSettled([running.then((result) => endPatience(result, late))]);
  const following = { since: 0, json: false, forwardsInput: false, patience: late.signal };
  const code = await runPiped(client, session, following);
  // It has ended, or a signal sends us away: nobody needs the tool's own answer.
  if (code !== LATE_EXIT) leaving.abort();
  const [answer] = await waited;
  return code === LATE_EXIT && answer.status === "fulfilled" ? codeOf(answer.value) : code;
}

type Started = Pick<Session, "session_id">;

interface Execution {
  readonly running: Promise<ProcessResult>;
  /** Gives up to wait for it. */
  readonly leaving: AbortController;
}

/** Ctrl-C is for the command here as well: what it printed until then is in the result. */
async function printResult(
  client: Client,
  session: Started,
  { running, leaving }: Execution,
): Promise<number> {
  const { session_id } = session;
  const interrupt = () => client.call("session.interrupt", { session_id });
  using signals = onSignals(interrupt, {});
  using _left = addAbortListener(signals.over, () => leaving.abort());
  try {
    const result = await running;
    process.stdout.write(`${printableJson(result)}\n`);
    return codeOf(result);
  } catch (error) {
    if (signals.leftBy === undefined) throw error;
    return sayLeft(session, signals.leftBy);
  }
}

function endPatience(result: ProcessResult, late: AbortController): ProcessResult {
  if (result.running) late.abort();
  return result;
}

type Values = ReturnType<typeof parseOptions<typeof options>>["values"];

/** Without a time it waits for the end, as a shell would. */
function createInput(values: Values, words: readonly string[]): ToolInput<"execute"> {
  const lifetime = parseTime(values.lifetime, "lifetime");
  const command = toLine(words);
  if (command.trim() === "")
    throw new Fault("invalid_request", "say what to run: reins exec -- COMMAND");
  return {
    command,
    timeout: parseTime(values.timeout, "timeout") ?? limits.duration_ms,
    ...(values.background === true ? { run_in_background: true } : {}),
    ...defined({ lifetime }),
    ...(values.cwd === undefined ? {} : { workdir: resolve(values.cwd) }),
    ...(values.tty === true ? { tty: true } : {}),
  };
}

/** One word is a line for the shell; several are a program and its arguments, as they are. */
function toLine(words: readonly string[]): string {
  const [first = "", ...rest] = words;
  return rest.length === 0 ? first : words.map(quoteIfNeeded).join(" ");
}

function codeOf({ exit_code, running, timed_out }: ProcessResult): number {
  if (!running) return exit_code ?? 1;
  return timed_out === true ? LATE_EXIT : 0;
}
