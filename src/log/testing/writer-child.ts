import { writeSync } from "node:fs";
import { systemClock } from "#base/clock.ts";
import { openLogWriter } from "#log/log-writer.ts";
import { piecesFrom } from "./pattern.ts";

/** Writes the pattern from where the log ends until it is killed, and says each tail once it is published. */
const [dir = "", seed = "", segmentBytes = ""] = process.argv.slice(2);
const writer = openLogWriter({ dir, clock: systemClock, segmentBytes: Number(segmentBytes) });
for (const { channel, bytes } of piecesFrom(Number(seed), writer.tail)) {
  writer.append(channel, bytes);
  writeSync(1, `${writer.tail}\n`);
}
