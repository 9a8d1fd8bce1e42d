import { AsyncLocalStorage } from "node:async_hooks";
import { existsSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { binPath } from "./packaged.ts";
import type { ResidentAnswer, ResidentRequest } from "./resident.ts";

/**
 * The program behind `resident.ts`: runs commands side by side in one process. Each has its own stdin, stdout, stderr and
 * environment, because `process` answers by the command that asks.
 */

interface Command {
  readonly stdin: Readable;
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
  readonly env: NodeJS.ProcessEnv;
}

const commands = new AsyncLocalStorage<Command>();

// As `bin/reins` does; not by a variable, which all children would inherit.
const { NODE_COMPILE_CACHE, XDG_CACHE_HOME = "" } = process.env;
if (NODE_COMPILE_CACHE === undefined) enableCompileCache(join(XDG_CACHE_HOME, "reins"));
// A command that starts a host or a listener starts this program.
process.argv[1] = binPath;
// Each command listens for the same signals.
process.setMaxListeners(0);
for (const name of ["stdin", "stdout", "stderr", "env"] as const) answerByCommand(name);

const { main } = await loadProgram();
process.on("message", (request: ResidentRequest) => void answer(request));
process.on("disconnect", () => process.exit(0));
process.send?.("ready");

function answerByCommand(name: keyof Command): void {
  const own = Object.getOwnPropertyDescriptor(process, name);
  const ownValue = () => own?.get?.call(process) ?? own?.value;
  Object.defineProperty(process, name, {
    configurable: true,
    get: () => commands.getStore()?.[name] ?? ownValue(),
  });
}

/** The same files that `bin/reins` runs. */
async function loadProgram(): Promise<{ main(argv: readonly string[]): Promise<number> }> {
  const root = join(binPath, "..", "..");
  const paths = [join(root, "src", "cli", "main.ts"), join(root, "dist", "main.js")];
  const path = paths.find((each) => existsSync(each)) ?? paths[0] ?? "";
  return await import(pathToFileURL(path).href);
}

async function answer({ id, argv, env }: ResidentRequest): Promise<void> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([stdout, stderr].map(async (stream) => String(await buffer(stream))));
  const command = { stdin: Readable.from([]), stdout, stderr, env: { ...env } };
  const code = await commands.run(command, () => main(argv));
  for (const stream of [stdout, stderr]) stream.end();
  const [out = "", err = ""] = await printed;
  const result: ResidentAnswer = { id, code, signal: null, stdout: out, stderr: err };
  process.send?.(result);
}
