import { constants } from "node:os";
import { findStart } from "#app/last-lines.ts";
import { hostGone } from "#cli/program/exit.ts";
import { parseOptions, parseStart, refuseWords } from "#cli/program/options.ts";
import { openClient } from "#cli/target/open-client.ts";
import { findTarget } from "#cli/target/target.ts";
import { createFrameWriter, openRawWriter } from "#cli/terminal/output-writer.ts";
import { chunksOf } from "#cli/terminal/printed-chunks.ts";
import { readOutput } from "#cli/terminal/read-output.ts";
import { isFinal } from "#contract/ended.ts";
import { endOf } from "#log/log-source.ts";

export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    follow: { type: "boolean", short: "f" },
    since: { type: "string" },
    tail: { type: "string", short: "n" },
    to: { type: "string" },
    remote: { type: "string" },
    json: { type: "boolean" },
  });
  refuseWords(positionals.slice(1));
  const [word = values.to] = positionals;
  const start = parseStart(values);
  const isFollowing = values.follow === true;
  using leaving = onLeavingSignals();
  const { signal } = leaving;
  await using client = await openClient({ remote: values.remote, host: "read", attaches: true });
  const session = await findTarget(client, word, { isFollowed: isFollowing });
  const { session_id, first_offset: first, tail } = session;
  const read = (from: number, to: number) => readOutput(client, session, { from, to });
  const since = start === undefined ? undefined : await findStart(start, { first, tail, read });
  using writer =
    values.json === true ? createFrameWriter() : openRawWriter({ isHistory: process.stdout.isTTY });
  const until = isFollowing ? Number.POSITIVE_INFINITY : tail;
  if ((since ?? first) === until) return 0;
  const isHere = client.address === undefined;
  const onCut = () => {
    if (isHere) throw hostGone(session_id);
  };
  const attachment = client.attach(session_id, { since, reads: "final", signal });
  for await (const chunk of chunksOf(attachment, onCut)) {
    await writer.write(chunk);
    if (endOf(chunk) >= until) break;
  }
  if (!isFollowing || signal.aborted) return leaving.exitCode;
  const ended = await client.call("session.get", { session_id });
  if (isHere && !isFinal(ended)) throw hostGone(session_id);
  await writer.end(ended);
  return 0;
}

interface Leaving extends Disposable {
  readonly signal: AbortSignal;
  /** 0 for Ctrl-C, which is how following a log ends. */
  readonly exitCode: number;
}

/** The first signal ends the command in order, with the terminal put back; another one at once. */
function onLeavingSignals(): Leaving {
  const leaving = new AbortController();
  let exitCode = 0;
  const leave = (name: NodeJS.Signals) => {
    if (leaving.signal.aborted) process.exit(128 + constants.signals[name]);
    exitCode = name === "SIGINT" ? 0 : 128 + constants.signals[name];
    leaving.abort();
  };
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const name of names) process.on(name, leave);
  return {
    signal: leaving.signal,
    get exitCode() {
      return exitCode;
    },
    [Symbol.dispose]: () => {
      for (const name of names) process.off(name, leave);
    },
  };
}
