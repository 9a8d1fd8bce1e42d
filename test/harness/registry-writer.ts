import { once } from "node:events";
import { identify, isAlive } from "#proc/identity.ts";
import { createRegistry } from "#registry/registry.ts";
import { RECORD_VERSION, type RunRecord } from "#registry/run-record.ts";

/** Writes one record again and again, looks at all of them meanwhile, says so, and keeps it until stdin ends. */
const [dataDir = "", session_id = "", times = "1"] = process.argv.slice(2);
const registry = createRegistry(dataDir, { isAlive });
const describe = (round: number): RunRecord => ({
  version: RECORD_VERSION,
  session_id,
  pid: process.pid,
  start_time: identify(process.pid).start_time,
  kind: "command",
  started_at: new Date().toISOString(),
  // Larger than what is written at once by chance.
  work_dir: `/${"x".repeat(8000 + round)}`,
  address: `http://127.0.0.1:${process.pid}`,
  server: identify(process.pid),
});
using entry = registry.open(describe(0));
let missing = 0;
for (let round = 1; round < Number(times); round += 1) {
  entry.update(describe(round));
  if (!registry.list().some((record) => record.session_id === session_id)) missing += 1;
}
process.stdout.write(`${JSON.stringify({ missing })}\n`);
process.stdin.resume();
await once(process.stdin, "end");
