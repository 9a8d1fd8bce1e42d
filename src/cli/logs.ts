import { followOutput, openOutput } from "#app/follow-output.ts";
import type { Session } from "#contract/session.ts";
import { openLocal } from "./context.ts";
import { hostGone } from "./exit.ts";
import { parseOptions, parseSince, refuseWords } from "./options.ts";
import { createFrameWriter, createRawWriter } from "./output-writer.ts";
import { createTargetPlace, findTarget } from "./place/target.ts";

export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    follow: { type: "boolean", short: "f" },
    since: { type: "string" },
    to: { type: "string" },
    remote: { type: "string" },
    json: { type: "boolean" },
  });
  refuseWords(positionals.slice(1));
  const [word = values.to] = positionals;
  const since = parseSince(values.since);
  const isFollowing = values.follow === true;
  const interrupted = new AbortController();
  process.once("SIGINT", () => interrupted.abort());
  const { signal } = interrupted;
  if (values.remote !== undefined) {
    const { printRemoteLogs } = await import("./control/remote-logs.ts");
    const json = values.json === true;
    await printRemoteLogs({ remote: values.remote, word, since, isFollowing, json, signal });
    return 0;
  }
  using local = await openLocal();
  const { session_id } = await findTarget(createTargetPlace(local.operations), word);
  using watch = await local.host.watch(session_id);
  using source = openOutput(local.dir.sessions, session_id);
  const from = since === "tail" ? watch.tail : (since ?? source.first());
  const writer =
    values.json === true
      ? createFrameWriter()
      : createRawWriter({ isHistory: process.stdout.isTTY });
  for await (const chunk of followOutput(source, watch, {
    since: from,
    until: isFollowing ? "final" : "now",
    signal,
  })) {
    await writer.write(chunk);
  }
  if (!isFollowing || signal.aborted) return 0;
  if (!isFinal(watch.session)) throw hostGone(session_id);
  await writer.end(watch.session);
  return 0;
}

function isFinal({ state }: Session): boolean {
  return state.kind === "lost" || (state.kind === "exited" && state.final);
}
