import { followOutput, openOutput } from "#app/follow-output.ts";
import type { Session } from "#contract/session.ts";
import { openLocal } from "./context.ts";
import { hostGone } from "./exit.ts";
import { parseOptions, parseSince, refuseWords } from "./options.ts";
import { createFrameWriter, createRawWriter } from "./output-writer.ts";
import { findTarget } from "./target.ts";

export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    follow: { type: "boolean", short: "f" },
    since: { type: "string" },
    json: { type: "boolean" },
  });
  refuseWords(positionals.slice(1));
  const since = parseSince(values.since);
  using local = await openLocal();
  const { session_id } = await findTarget(local.operations, positionals[0]);
  using watch = await local.host.watch(session_id);
  using source = openOutput(local.dir.sessions, session_id);
  const from = since === "tail" ? watch.tail : (since ?? source.first());
  const writer =
    values.json === true
      ? createFrameWriter()
      : createRawWriter({ isHistory: process.stdout.isTTY });
  const isFollowing = values.follow === true;
  const interrupted = new AbortController();
  process.once("SIGINT", () => interrupted.abort());
  for await (const chunk of followOutput(source, watch, {
    since: from,
    until: isFollowing ? "final" : "now",
    signal: interrupted.signal,
  })) {
    await writer.write(chunk);
  }
  if (!isFollowing || interrupted.signal.aborted) return 0;
  if (!isFinal(watch.session)) throw hostGone(session_id);
  await writer.end(watch.session);
  return 0;
}

function isFinal({ state }: Session): boolean {
  return state.kind === "lost" || (state.kind === "exited" && state.final);
}
