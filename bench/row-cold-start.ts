import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { layOutPackage } from "./lib/packaged.ts";
import { interleave, median, pairedRatios } from "./lib/statistics.ts";
import { openTempDir } from "./lib/temp-dir.ts";
import { openTempHost, reinsPath } from "./lib/temp-host.ts";
import type { Row, RowOptions } from "./row.ts";

const STARTS_PER_RUN = 3;

/** `reins ps` against a Node that does nothing: out of the package, and out of the checkout beside it. */
export async function measureColdStart({ runs }: RowOptions): Promise<Row[]> {
  await using dir = openTempDir();
  const packaged = layOutPackage(dir.path);
  await using host = await openTempHost({ command: [process.execPath, packaged] });
  await host.create({ kind: "terminal", argv: ["sleep", "infinity"] });
  const env = {
    ...process.env,
    REINS_HOME: host.dir.path,
    XDG_CACHE_HOME: join(dir.path, "cache"),
  };
  const start = (args: readonly string[]) => () => timeOf(args, env);
  const ps = { packaged: start([packaged, "ps"]), checkout: start([reinsPath, "ps"]) };
  // The first start of each fills Node's compile cache.
  for (const first of [ps.packaged, ps.checkout]) first();
  const times = await interleave(runs * STARTS_PER_RUN, { bare: start(["-e", "0"]), ...ps });
  const row = (what: string, found: readonly number[]): Row => ({
    what: `\`reins ps\` cold start, ${what}`,
    measured: `${median(found).toFixed(1)} ms`,
    against: `\`node -e 0\`: ${median(times.bare).toFixed(1)} ms`,
    ratio: median(pairedRatios(found, times.bare)),
  });
  return [
    { ...row("packaged", times.packaged), target: { at_most: 2.5 } },
    row("from the checkout", times.checkout),
  ];
}

function timeOf(args: readonly string[], env: NodeJS.ProcessEnv): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`node ${args.join(" ")}: ${stderr}`);
  return performance.now() - started;
}
