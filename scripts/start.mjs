// `npm start`: builds the page if it is stale, serves, and prints the one address to open. Arguments go to `reins serve`.
import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { buildWeb } from "./build-web.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const reins = fileURLToPath(new URL("../bin/reins", import.meta.url));

/** After so long a build is worth a word; one that is not needed takes less. */
const QUIET_MS = 500;

process.stdout.write(`Reins runs agents and terminals that you can always get back to.
- In the browser: open the address below. Start "hello", an agent that needs no API key and no network.
- In another terminal: bin/reins run starts a shell, bin/reins ps lists sessions, bin/reins attach returns to one.
  To call it "reins" from anywhere, run: npm link

`);
const slow = setTimeout(
  () => process.stdout.write("Building the web UI. The first time takes up to a minute.\n\n"),
  QUIET_MS,
);
await buildWeb()
  .catch((error) => {
    // The API is there without it, and an older page may be.
    process.stderr.write(`Cannot build the web UI: ${error.message}\n`);
  })
  .finally(() => clearTimeout(slow));
const address = findRunning();
if (address === undefined) process.exitCode = await serve();
else
  process.stdout.write(`A server for this data directory is already running. Open this address in your browser:

  ${address}

The address signs in one browser and is valid for one minute. For a new one, run: bin/reins open
`);

/** Undefined when no server runs. */
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
