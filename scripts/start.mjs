// `npm start`: builds the page if it is stale, serves, and prints the one address to open. Arguments go to `reins serve`.
import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { buildWeb } from "./build-web.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const reins = fileURLToPath(new URL("../bin/reins", import.meta.url));

process.stdout.write(`Reins runs agents and terminals that you can always get back to, in a browser or a terminal.
The page shows everything that runs here, and starts more: "hello" is an agent that needs no key and no network.
In a terminal: bin/reins run starts a shell, bin/reins ps lists what runs, bin/reins attach gets back to it.

`);
await buildWeb().catch((error) => {
  // The API is there without it, and an older page may be.
  process.stderr.write(`the page cannot be built: ${error.message}\n`);
});
const address = findRunning();
if (address === undefined) process.exitCode = await serve();
else
  process.stdout.write(`A server of this data directory runs already; its page, good for one browser within a minute:
open ${address}
`);

/** Undefined when nobody serves. */
function findRunning() {
  const words = [reins, "open", "--print", ...dataDirOf(process.argv.slice(2))];
  const { status, stdout } = spawnSync(process.execPath, words, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return status === 0 ? stdout.trim() : undefined;
}

/** A server of another data directory is not the one that is asked for. */
function dataDirOf(words) {
  const at = words.findIndex((word) => /^--data-dir(=|$)/.test(word));
  if (at < 0) return [];
  return words.slice(at, words[at].includes("=") ? at + 1 : at + 2);
}

/** Until it is told to stop; it has the same terminal, so Ctrl-C reaches it by itself. */
async function serve() {
  const child = spawn(process.execPath, [reins, "serve", "--any-port", ...process.argv.slice(2)], {
    cwd: root,
    stdio: "inherit",
  });
  process.on("SIGINT", () => undefined);
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  const { promise, resolve } = Promise.withResolvers();
  child.on("exit", (code) => resolve(code ?? 1));
  return await promise;
}
