import type { Clock } from "#base/clock.ts";
import { asFault, Fault } from "#contract/fault.ts";
import type { StreamItem } from "#contract/operations.ts";
import type { ShellEvent } from "#contract/shell.ts";
import { execdCode, execdMessage } from "./execd-faults.ts";
import { type OutputLine, OutputLines } from "./execd-lines.ts";

type Exit = Extract<ShellEvent, { readonly type: "exit" }>;

/** An event as clients of the execd API parse it. */
interface ExecdEvent {
  readonly type: "replay" | "init" | "stdout" | "stderr" | "gap" | "execution_complete" | "error";
  readonly timestamp: number;
  readonly text?: string;
  readonly error?: {
    readonly ename: string;
    readonly evalue: string;
    readonly traceback: readonly string[];
  };
  /** What that API does not have, and its clients do not look at. */
  readonly [more: string]: unknown;
}

export type ExecdItem = StreamItem<ExecdEvent>;

interface ExecutionOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** What happens to a run in the words of the execd API: `init`, lines, then `execution_complete` or `error`. */
export async function* describeExecution(
  items: AsyncIterable<StreamItem<ShellEvent>>,
  { clock, signal }: ExecutionOptions,
): AsyncGenerator<ExecdItem, void, void> {
  const began = clock.monotonic();
  const lines = new OutputLines();
  const asItem = (line: OutputLine) => describeLine(line, clock);
  try {
    for await (const { data } of items) {
      switch (data.type) {
        case "run":
          yield describeInit(data.session_id, clock);
          break;
        case "gap":
          yield* lines.flush(data.from).map(asItem);
          yield { id: data.to, data: { ...data, timestamp: clock.now() } };
          break;
        case "exit":
          yield* lines.flush(data.tail).map(asItem);
          yield { id: data.tail, data: describeExit(data, clock, clock.monotonic() - began) };
          break;
        default:
          yield* lines
            .push(data.type, data.offset, Buffer.from(data.data, data.encoding))
            .map(asItem);
      }
    }
  } catch (error) {
    yield describeFailure(error, clock);
    throw error;
  }
  if (signal.reason instanceof Fault) yield describeFailure(signal.reason, clock);
}

export function describeInit(id: string, clock: Clock): ExecdItem {
  return { data: { type: "init", text: id, timestamp: clock.now() } };
}

export function describeComplete(clock: Clock, ms: number): ExecdEvent {
  return { type: "execution_complete", execution_time: Math.round(ms), timestamp: clock.now() };
}

function describeLine({ channel, next, ...line }: OutputLine, clock: Clock): ExecdItem {
  return { id: next, data: { type: channel, ...line, timestamp: clock.now() } };
}

/** The code is `evalue`, as a text, and a number beside it. */
function describeExit(exit: Exit, clock: Clock, ms: number): ExecdEvent {
  const { exit_code, signal, timed_out } = exit;
  const complete = describeComplete(clock, ms);
  if (exit_code === 0 && !timed_out) return { ...complete, exit_code };
  const evalue = exit_code === null ? exit.reason : String(exit_code);
  return {
    ...complete,
    type: "error",
    error: { ename: "CommandExecError", evalue, traceback: [sayExit(exit)] },
    exit_code,
    signal,
    timed_out,
  };
}

/** How something ended that did not end well. */
export function sayExit({
  exit_code,
  signal,
  reason,
}: Pick<Exit, "exit_code" | "signal" | "reason">): string {
  if (reason === "lifetime_timeout") return "the timeout was over, so the command was ended";
  if (exit_code === null) return `it is not known how the command ended: ${reason}`;
  return signal === null ? `exit status ${exit_code}` : `ended by ${signal}`;
}

/** The answer has begun, so what went wrong is an event like the others. */
function describeFailure(error: unknown, clock: Clock): ExecdItem {
  const fault = asFault(error);
  const ename = execdCode(fault);
  const evalue = execdMessage(fault);
  return {
    data: { type: "error", error: { ename, evalue, traceback: [] }, timestamp: clock.now() },
  };
}
