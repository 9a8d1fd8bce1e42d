import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** A part of `npm test` itself: the look at what a run has left behind. */
const leftovers = await import(new URL("../../scripts/leftovers.mjs", import.meta.url).href);

test.skipIf(process.platform !== "linux")(
  "a process that a run left is ended and named",
  async () => {
    using dir = openTempDir();
    const ready = join(dir.path, "ready");
    // Without its environment, its parents and its working directory: only an argument of the shell still tells.
    const line = `sleep 1000 & echo $! > ${ready}; cd /; wait`;
    spawn("sh", ["-c", 'env -i setsid sh -c "$0" "$1" &', line, dir.path], { stdio: "ignore" });
    // A child of a shell has the shell's command line until it runs its own program.
    await waitFor("the start of the process", () => {
      const pid = existsSync(ready) ? readFileSync(ready, "utf8").trim() : "";
      return pid !== "" && readFileSync(`/proc/${pid}/comm`, "utf8") === "sleep\n";
    });
    const named: string[] = await leftovers.endLeftProcesses(dir.path);
    const commands = named.map((line) => line.replace(/^process \d+ was still running: /, ""));
    expect(commands.toSorted()).toEqual([expect.stringMatching(/^sh -c /), "sleep 1000"]);
    expect(await leftovers.endLeftProcesses(dir.path)).toEqual([]);
  },
);

test("files that a run left are removed and named", () => {
  using dir = openTempDir();
  writeFileSync(join(dir.path, "left"), "");
  expect(leftovers.removeLeftFiles(dir.path)).toEqual([`left on disk: ${dir.path}/left`]);
  expect(existsSync(dir.path)).toBe(false);
});
