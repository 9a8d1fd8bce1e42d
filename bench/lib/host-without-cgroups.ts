// `reins host` as it is where no cgroup can be made: trees are found by their marks alone. Takes the same words.
import { parseArgs } from "node:util";
import { runHost } from "#daemon/host.ts";

const { values } = parseArgs({
  options: { "data-dir": { type: "string", default: "" } },
  allowPositionals: true,
});
process.chdir("/");
process.exitCode = await runHost({
  dataDir: values["data-dir"],
  version: "0.0.0",
  cgroups: false,
});
