import { type IndexRecord, marks } from "./index-format.ts";

/** What the index says, for those who need more than bytes; `at_ms` is since the log's epoch. */
export type LogRecord = { readonly offset: number; readonly at_ms: number } & (
  | { readonly kind: "data"; readonly channel: number }
  | { readonly kind: "lost" }
  | { readonly kind: "resize"; readonly cols: number; readonly rows: number }
);

/** Undefined for a mark that this version does not know. */
export function toLogRecord(record: IndexRecord): LogRecord | undefined {
  const place = { offset: record.offset, at_ms: record.time };
  switch (record.mark) {
    case marks.data:
      return { ...place, kind: "data", channel: record.channel };
    case marks.lost:
      return { ...place, kind: "lost" };
    case marks.resize:
      return { ...place, kind: "resize", cols: record.a, rows: record.b };
    default:
      return undefined;
  }
}
