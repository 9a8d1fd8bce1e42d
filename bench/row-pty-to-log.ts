import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runToExit } from "./lib/bursts.ts";
import { type SampleText, writeSampleText } from "./lib/sample-text.ts";
import { interleave, median, pairedRatios } from "./lib/statistics.ts";
import { openTempDir } from "./lib/temp-dir.ts";
import { openTempHost, type TempHost } from "./lib/temp-host.ts";
import type { Row, RowOptions } from "./row.ts";

const BYTES = 48 * 1024 * 1024;
const MB = 1e6;
const barePty = fileURLToPath(new URL("./bare-pty.py", import.meta.url));

/** PTY output to the log with nobody watching, in MB/s, against a loop that only reads. */
export async function measurePtyToLog({ runs }: RowOptions): Promise<Row[]> {
  await using dir = openTempDir();
  const text = writeSampleText(join(dir.path, "text"), BYTES);
  await using host = await openTempHost();
  const speeds = await interleave(runs, {
    bare: () => readBare(text),
    log: () => printToLog(host, text),
  });
  return [
    {
      what: `PTY to log, nobody watching: \`cat\` of ${BYTES / 2 ** 20} MiB of lines`,
      measured: `${median(speeds.log).toFixed(1)} MB/s`,
      against: `bare read loop (Python): ${median(speeds.bare).toFixed(1)} MB/s`,
      ratio: median(pairedRatios(speeds.log, speeds.bare)),
      target: { at_least: 0.8 },
    },
  ];
}

async function printToLog(host: TempHost, text: SampleText): Promise<number> {
  const started = performance.now();
  const ended = await runToExit(host, { kind: "terminal", argv: ["cat", text.path] });
  const seconds = (performance.now() - started) / 1000;
  if (ended.tail !== text.terminal.bytes) throw new Error(`the log ends at ${ended.tail}`);
  await host.client.call("session.close", { session_id: ended.session_id, purge: true });
  return ended.tail / seconds / MB;
}

function readBare(text: SampleText): number {
  const output = execFileSync("python3", [barePty, "cat", text.path], { encoding: "utf8" });
  const { bytes, seconds } = JSON.parse(output);
  if (bytes !== text.terminal.bytes) throw new Error(`the bare loop read ${bytes} bytes`);
  return bytes / seconds / MB;
}
