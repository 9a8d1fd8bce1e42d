import { describeEvent } from "#cli/control/event-text.ts";
import { followEvents } from "#cli/control/follow-events.ts";
import { openTarget, targetOptions } from "#cli/control/target-options.ts";
import { notice } from "#cli/program/exit.ts";
import { parseOptions, parseSince, refuseWords } from "#cli/program/options.ts";
import { writeTo } from "#cli/terminal/output-writer.ts";
import { Fault } from "#contract/fault.ts";

/** `reins watch`: one event a line. What is printed is what stands in the log, so offsets and tools agree on it. */
export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    ...targetOptions,
    since: { type: "string" },
    pretty: { type: "boolean" },
  });
  const [word = values.to, ...rest] = positionals;
  refuseWords(rest);
  if (values.pretty === true && values.json === true)
    throw new Fault("invalid_request", "--pretty and --json exclude each other");
  const since = parseSince(values.since) ?? 0;
  // From here on: a Ctrl-C while the session is looked for is one as well.
  using interrupted = onInterrupt();
  const { signal } = interrupted;
  try {
    await using target = await openTarget({ ...values, to: word }, { isFollowed: true });
    const { client, session } = target;
    notice(`watching ${session.session_id}; Ctrl-C leaves`);
    const from = since === "tail" ? session.events_tail : since;
    for await (const { data, text } of followEvents(client, session, { since: from, signal })) {
      const line = values.pretty === true ? describeEvent(data) : text;
      if (line !== undefined) await writeTo(process.stdout, Buffer.from(`${line}\n`));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return 0;
}

function onInterrupt(): Disposable & { readonly signal: AbortSignal } {
  const interrupted = new AbortController();
  const abort = () => interrupted.abort();
  process.once("SIGINT", abort);
  return {
    signal: interrupted.signal,
    [Symbol.dispose]: () => void process.off("SIGINT", abort),
  };
}
