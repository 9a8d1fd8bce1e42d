import { unfinishedBytes } from "#base/utf8.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { toPlainText } from "#contract/text/plain-text.ts";
import type { Truncated } from "#contract/tools/process.ts";
import type { LogReader } from "#session/session-host.ts";
import { CHARACTER_BYTES, costOf, findHeadCut, findStart, findTailCut } from "./view-cuts.ts";
import { RangeReader, type Run, type Span } from "./view-read.ts";
import { describeBinary, describeOmission, isBinary } from "./view-text.ts";

/**
 * What a model is shown of a range of a log:
 *
 *   from          cut                       cut          to
 *    |--- head ---|-- omitted, gaps too --|--- tail ---|
 *
 * The cuts are chosen in the bytes of the log, so that `head + omitted + tail` is the range to the byte. Only then the
 * parts become text, which is never longer than what they were counted as.
 */
export interface ModelView {
  readonly text: string;
  readonly truncated?: Truncated;
  /** Where the next view goes on. */
  readonly next: number;
  /** Of the range, no longer kept or never written. */
  readonly lost_bytes: number;
  readonly isBinary: boolean;
}

export interface ModelRange extends Span {
  /** Bytes that the text may have. */
  readonly budget?: number;
  /** More may follow: a character that is unfinished at the end is left to the next view. */
  readonly isOpen?: boolean;
}

/** Below, a marker and a line beside it do not fit. */
const LEAST_BUDGET_BYTES = 1024;
/** Before the start of a part; an escape sequence that is longer than this shows its end. */
const LOOK_BACK_BYTES = 1024;
const NO_BYTES = new Uint8Array();

/** Reads the ends of the range only and holds no more than that, however long it is. */
export function viewForModel(source: LogReader, range: ModelRange): ModelView {
  const budget = range.budget ?? limits.model_output_bytes;
  if (!(budget >= LEAST_BUDGET_BYTES))
    throw new Fault(
      "invalid_request",
      `Output cannot be shown in ${budget} bytes; it needs ${LEAST_BUDGET_BYTES} at least.`,
    );
  const span = spanOf(source, range);
  const { to } = span;
  if (!(span.from < to)) return viewOfNothing(source, span);
  const reader = new RangeReader(source, span);
  const head = reader.head(budget);
  const isWhole = head.bytes.length === to - span.from;
  const tail = isWhole ? head : reader.tail(budget + LOOK_BACK_BYTES);
  const sample = head.bytes.length > 0 ? head : tail;
  const hidden = findStart(reader.before(LOOK_BACK_BYTES).bytes, head.bytes);
  if (isBinary(sample.bytes.subarray(sample === head ? hidden : 0)))
    return viewOfBinary(sample, span, reader);
  const shown = head.bytes.subarray(hidden);
  if (isWhole && costOf(shown) <= budget) return viewOfAll(shown, span);
  const parts = { span, budget, head: { start: span.from + hidden, bytes: shown }, tail };
  return viewOfEnds(parts, reader);
}

function spanOf(source: LogReader, range: ModelRange): Span {
  const span = { from: range.from, to: Math.min(range.to, source.tail()) };
  if (range.isOpen !== true || !(span.from < span.to)) return span;
  const to = span.to - unfinishedBytes(new RangeReader(source, span).tail(CHARACTER_BYTES).bytes);
  // Alone, it was waited for long enough.
  return to > span.from ? { ...span, to } : span;
}

function viewOfAll(shown: Uint8Array, { to }: Span): ModelView {
  return { text: toPlainText(shown), next: to, lost_bytes: 0, isBinary: false };
}

interface Parts {
  readonly span: Span;
  readonly budget: number;
  readonly head: Run;
  readonly tail: Run;
}

function viewOfEnds({ span, budget, head, tail }: Parts, reader: RangeReader): ModelView {
  const original = span.to - span.from;
  const lost = reader.lostBytes();
  // No number in the marker can have more digits than these; a line feed stands on either side of it.
  const longest = describeOmission({
    bytes: original,
    lost: lost > 0 ? original - 1 : 0,
    offset: span.to,
  });
  const room = budget - longest.length - 2;
  const headRoom = Math.max(Math.floor(room / 2), room - costOf(tail.bytes));
  const headBytes = head.bytes.subarray(0, findHeadCut(head.bytes, headRoom));
  const headEnd = head.start + headBytes.length;
  const tailRoom = room - costOf(headBytes);
  const cut = findTailCut(tail.bytes, tailRoom, Math.max(0, headEnd - tail.start));
  const tailBytes = tail.bytes.subarray(cut);
  // Behind a gap it may begin in the middle of a character.
  const hidden = cut === 0 ? findStart(NO_BYTES, tailBytes) : 0;
  const omitted = span.to - tailBytes.length - headEnd;
  // What is hidden at the start needs no room, and then all the rest may fit.
  if (omitted === 0) return viewOfAll(Buffer.concat([headBytes, tailBytes]), span);
  const text = join(
    toPlainText(headBytes),
    describeOmission({ bytes: omitted, lost, offset: headEnd }),
    toPlainText(tailBytes.subarray(hidden)),
  );
  return {
    text,
    truncated: truncatedAt(span, headEnd, omitted),
    next: span.to,
    lost_bytes: lost,
    isBinary: false,
  };
}

function join(head: string, marker: string, tail: string): string {
  const first = head === "" || head.endsWith("\n") ? head : `${head}\n`;
  return `${first}${marker}\n${tail}`;
}

function viewOfBinary(sample: Run, span: Span, reader: RangeReader): ModelView {
  const size = span.to - span.from;
  const { text, shownBytes } = describeBinary(sample, span);
  const view = { text, next: span.to, lost_bytes: reader.lostBytes(), isBinary: true };
  if (shownBytes === size) return view;
  const offset = sample.start === span.from ? span.from + shownBytes : span.from;
  return { ...view, truncated: truncatedAt(span, offset, size - shownBytes) };
}

function viewOfNothing(source: LogReader, { from }: Span): ModelView {
  // Says where the log ends to who is past it.
  source.read(from, { limit: 1 });
  return { text: "", next: from, lost_bytes: 0, isBinary: false };
}

function truncatedAt({ from, to }: Span, offset: number, omitted: number): Truncated {
  return {
    original_bytes: to - from,
    retained_bytes: to - from - omitted,
    omitted_bytes: omitted,
    strategy: "head_tail",
    spool_offset: offset,
  };
}
