import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ManualClock } from "#base/manual-clock.ts";
import { channels } from "#contract/channels.ts";
import { openLogWriter } from "#log/log-writer.ts";

/** What a real program printed on a real terminal; see scripts/record-screens.mjs. */
export interface Recording {
  readonly name: string;
  readonly cols: number;
  readonly rows: number;
  readonly resizes: readonly {
    readonly offset: number;
    readonly cols: number;
    readonly rows: number;
  }[];
  readonly bytes: Buffer;
}

const folder = fileURLToPath(new URL("../recordings/", import.meta.url));

export function listRecordings(): Recording[] {
  return readdirSync(folder)
    .toSorted()
    .map((file) => {
      const { base64, ...rest } = JSON.parse(readFileSync(join(folder, file), "utf8"));
      return { ...rest, name: basename(file, ".json"), bytes: Buffer.from(base64, "base64") };
    });
}

/** A session's folder with the recording as its log, as a host would have written it. */
export function writeSession(
  dir: string,
  recording: Omit<Recording, "name">,
  log: { readonly segmentBytes?: number; readonly retainBytes?: number } = {},
): void {
  const clock = new ManualClock();
  using events = openLogWriter({ dir: join(dir, "events"), clock });
  const { cols, rows, bytes, resizes } = recording;
  const opened = JSON.stringify({ type: "session.opened", cols, rows });
  events.append(channels.events, Buffer.from(`${opened}\n`));
  using output = openLogWriter({ dir: join(dir, "output"), clock, ...log });
  let at = 0;
  for (const resize of resizes) {
    output.append(channels.stdout, bytes.subarray(at, resize.offset));
    output.mark("resize", resize.cols, resize.rows);
    at = resize.offset;
  }
  output.append(channels.stdout, bytes.subarray(at));
}
