import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { main } from "#cli/main.ts";
import { binPath } from "./packaged.ts";

/** The program behind `resident.ts`: runs one command after the other, each with an stdin, stdout and stderr of its own. */

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];

// As `bin/reins` does; not by a variable, which everything that is started here would have too.
const { NODE_COMPILE_CACHE, XDG_CACHE_HOME = "" } = process.env;
if (NODE_COMPILE_CACHE === undefined) enableCompileCache(join(XDG_CACHE_HOME, "reins"));
// What starts a host or a listener starts the program itself.
process.argv[1] = binPath;
process.on("message", (argv: readonly string[]) => void answer(argv));
process.on("disconnect", () => process.exit(0));

async function answer(argv: readonly string[]): Promise<void> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  // Nothing to read, and its end is heard by each: the process's own has one end only.
  Object.defineProperty(process, "stdin", { value: Readable.from([]), configurable: true });
  Object.defineProperty(process, "stdout", { value: stdout, configurable: true });
  Object.defineProperty(process, "stderr", { value: stderr, configurable: true });
  const printed = Promise.all([stdout, stderr].map(async (stream) => String(await buffer(stream))));
  const code = await main(argv);
  for (const stream of [stdout, stderr]) stream.end();
  for (const signal of SIGNALS) process.removeAllListeners(signal);
  const [out, err] = await printed;
  process.send?.({ code, signal: null, stdout: out, stderr: err });
}
