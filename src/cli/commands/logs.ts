import { constants } from "node:os";
import { findStart } from "#app/last-lines.ts";
import { findDataDir } from "#cli/context.ts";
import { hostGone } from "#cli/exit.ts";
import { parseOptions, parseStart, refuseWords } from "#cli/options.ts";
import { createFrameWriter, openRawWriter } from "#cli/output-writer.ts";
import { openReading } from "#cli/place/read-here.ts";
import { findTarget } from "#cli/place/target.ts";
import { attachLocally } from "#cli/terminal/local-client.ts";
import { chunksOf } from "#cli/terminal/printed-chunks.ts";
import { isFinal } from "#contract/ended.ts";
import { endOf, type LogSource } from "#log/log-source.ts";
import { readRange } from "#log/read-range.ts";

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
  if (values.remote !== undefined) {
    const { printRemoteLogs } = await import("#cli/control/remote-logs.ts");
    const json = values.json === true;
    await printRemoteLogs({ remote: values.remote, word, start, isFollowing, json, signal });
    return leaving.exitCode;
  }
  using here = await openReading(findDataDir());
  const { session_id } = await findTarget(here.place, word, { isFollowed: isFollowing });
  using handle = await here.open(session_id);
  const first = handle.output.first();
  const since = await findStart(start ?? first, {
    ...{ first, tail: handle.tail },
    read: (from, to) => readBytes(handle.output, from, to),
  });
  using writer =
    values.json === true ? createFrameWriter() : openRawWriter({ isHistory: process.stdout.isTTY });
  const until = isFollowing ? Number.POSITIVE_INFINITY : handle.tail;
  if (since === until) return 0;
  const { open } = here;
  const attachment = attachLocally({ open, until: "final" }, session_id, { since, signal });
  const onCut = () => {
    throw hostGone(session_id);
  };
  for await (const chunk of chunksOf(attachment, onCut)) {
    await writer.write(chunk);
    if (endOf(chunk) >= until) break;
  }
  if (!isFollowing || signal.aborted) return leaving.exitCode;
  if (!isFinal(handle.session)) throw hostGone(session_id);
  await writer.end(handle.session);
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

/** Skips bytes that are no longer kept. */
async function* readBytes(source: LogSource, from: number, to: number) {
  for await (const chunk of readRange(source, from, { to, limit: to - from }))
    if (chunk.kind === "bytes") yield chunk;
}
