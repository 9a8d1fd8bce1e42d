import { createInterface } from "node:readline";
import { setImmediate } from "node:timers/promises";
import { openLogFiles } from "#log/log-files.ts";
import { endOf } from "#log/log-source.ts";

/**
 * Follows a log from another process by looking at the files again and again. Each line of its input is
 * `{from, to, limit}`; it answers with the chunks of that range, `[offset, channel, base64]` or `[from, to]`,
 * once it has them all.
 */
const [dir = ""] = process.argv.slice(2);
process.stdout.write("ready\n");
for await (const line of createInterface({ input: process.stdin })) {
  const { from, to, limit } = JSON.parse(line);
  using source = openLogFiles(dir);
  const chunks: unknown[] = [];
  for (let cursor = from; cursor < to; ) {
    const chunk = source.tail() < cursor ? undefined : source.read(cursor, { limit });
    if (chunk === undefined) {
      await setImmediate();
      continue;
    }
    cursor = endOf(chunk);
    if (chunk.kind === "gap") chunks.push([chunk.from, chunk.to]);
    else chunks.push([chunk.offset, chunk.channel, Buffer.from(chunk.bytes).toString("base64")]);
  }
  process.stdout.write(`${JSON.stringify(chunks)}\n`);
}
