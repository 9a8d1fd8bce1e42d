import { addAbortListener } from "node:events";
import { constants } from "node:os";
import { openTarget, targetOptions } from "#cli/control/target-options.ts";
import { exitCodeOf, notice } from "#cli/program/exit.ts";
import { parseOptions, parseSince, refuseWords } from "#cli/program/options.ts";
import { answerLine, LINE_BYTES } from "#cli/proto/answer-line.ts";
import { forwardEvents } from "#cli/proto/forward-events.ts";
import { openLeaving } from "#cli/proto/leaving.ts";
import { LineWriter } from "#cli/proto/line-writer.ts";
import { readRequestLines } from "#cli/proto/request-lines.ts";
import { takeStdout } from "#cli/proto/take-stdout.ts";
import { limits } from "#contract/limits.ts";
import type { Run } from "#tools/run-control.ts";

/**
 * A run for programs, one JSON object a line:
 *
 *   stdout  ready ─► ( event | ack | error | transcript | status )* ─► events_ended? ─► … ─► closed
 *   stdin   requests, each answered by one line, in their order, with their id
 */
export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    ...targetOptions,
    since: { type: "string" },
  });
  refuseWords(positionals);
  const wanted = parseSince(values.since) ?? "tail";
  const writer = new LineWriter(takeStdout());
  using leaving = openLeaving();
  const { signal } = leaving;
  await using target = await openTarget(values);
  const { client, session } = target;
  const { session_id, kind, events_tail } = session;
  const since = wanted === "tail" ? events_tail : wanted;
  notice(`speaks to ${session_id}`);
  const address = client.address ?? null;
  await writer.write({ type: "ready", address, session_id, kind, next: since });
  const forwarded = forwardEvents(target, writer, { since, signal });
  const reason = await answerAll({ client, session }, writer, signal);
  leaving.leave();
  const broken = await forwarded;
  await writer.write({ type: "closed", reason });
  process.stdin.destroy();
  if (leaving.by !== undefined) return 128 + constants.signals[leaving.by];
  return broken === undefined ? 0 : exitCodeOf(broken);
}

/** Long enough for a worker that has to be brought back first. */
const REQUEST_MS = 2 * limits.request_ms;

/** One after the other, until nobody can ask any more; why that is so. */
async function answerAll(run: Run, writer: LineWriter, signal: AbortSignal): Promise<string> {
  try {
    for await (const line of readRequestLines(untilAborted(signal), { limit: LINE_BYTES })) {
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]);
      const reply = await answerLine(run, line, inTime);
      if (reply !== undefined) await writer.write(reply);
    }
  } catch (error) {
    if (!signal.aborted) return `stdin cannot be read: ${String(error)}`;
  }
  return signal.aborted ? "signal" : "stdin";
}

async function* untilAborted(signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  const { stdin } = process;
  // Also when the signal came before anything could be read.
  using _abort = addAbortListener(signal, () => stdin.destroy());
  // stdin gives bytes as long as no encoding is set.
  for await (const chunk of stdin) yield chunk as Buffer;
}
