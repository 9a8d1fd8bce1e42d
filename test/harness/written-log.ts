import { join } from "node:path";
import { ManualClock } from "#base/manual-clock.ts";
import { type LogFiles, openLogFiles } from "#log/log-files.ts";
import { type LogWriter, openLogWriter } from "#log/log-writer.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

export interface WrittenLog extends Disposable {
  readonly writer: LogWriter;
  readonly files: LogFiles;
  /** Of a log that nobody has written. */
  readonly missing: LogFiles;
}

export function openWrittenLog(): WrittenLog {
  using stack = new DisposableStack();
  const folder = stack.use(openTempDir()).path;
  const dir = join(folder, "log");
  const writer = stack.use(openLogWriter({ dir, clock: new ManualClock() }));
  const files = stack.use(openLogFiles(dir));
  const missing = stack.use(openLogFiles(join(folder, "none")));
  const owned = stack.move();
  return { writer, files, missing, [Symbol.dispose]: () => owned.dispose() };
}
