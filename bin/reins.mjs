// The program behind `bin/reins`: makes sure that Node is new enough, turns its compile cache on and loads src/cli/main.ts
// in a checkout; in an installed package dist/main.js, or the command's own bundle.
// Much older versions of Node have to be able to read this file.
import { existsSync, lstatSync, mkdirSync } from "node:fs";
import nodeModule from "node:module";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const OLDEST_MAJOR = 24;
const OLDEST_MINOR = 12;
/** Commands with a bundle of their own, which starts faster: scripts/build-program.mjs. */
const PROGRAMS = ["host", "agent", "serve"];

const here = fileURLToPath(import.meta.url);
const bin = dirname(here);
const root = dirname(bin);

// The program starts a host or an agent by the name `bin/reins`, which older versions have too: a process that
// outlives an update of the package, or its reverse, still finds its program.
if (process.argv[1] === here) process.argv[1] = join(bin, "reins");

if (isNewEnough()) await start();
else refuse();

async function start() {
  useCompileCache();
  const source = join(root, "src", "cli", "main.ts");
  const main = join(root, "dist", "main.js");
  const name = process.argv[2];
  const own = PROGRAMS.includes(name) ? [join(root, "dist", `${name}.js`)] : [];
  const program = [source, ...own, main].find((path) => existsSync(path));
  if (program === undefined) {
    fail(`reins is incomplete: there is neither ${source} nor ${main}.`);
    return;
  }
  const loaded = await import(pathToFileURL(program).href);
  process.exitCode = await loaded.main(process.argv.slice(2));
}

function isNewEnough() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  return major > OLDEST_MAJOR || (major === OLDEST_MAJOR && minor >= OLDEST_MINOR);
}

function refuse() {
  const needed = `reins needs Node ${OLDEST_MAJOR}.${OLDEST_MINOR} or newer; ${process.execPath} is ${process.version}.`;
  const own = join(root, "node_modules", "node", "bin", "node");
  const advice =
    existsSync(own) && process.execPath !== own
      ? `Run ${join(bin, "reins")} without node; it uses the Node of the checkout.`
      : `Install one from https://nodejs.org, or beside Reins: npm install -g node@${OLDEST_MAJOR}`;
  fail(`${needed} ${advice}`);
}

/** Only in a directory that no other user can write to: its content is run as code. */
function useCompileCache() {
  // Set by the caller, Node has turned it on already.
  if (process.env.NODE_COMPILE_CACHE !== undefined) return;
  try {
    const directory = openCacheDirectory();
    if (directory !== undefined) nodeModule.enableCompileCache(directory);
  } catch {
    // It would only have been faster.
  }
}

function openCacheDirectory() {
  const given = process.env.XDG_CACHE_HOME ?? "";
  const home = homedir();
  if (!isAbsolute(given) && !existsSync(home)) return undefined;
  const directory = join(isAbsolute(given) ? given : join(home, ".cache"), "reins");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const stat = lstatSync(directory);
  const isOurs = process.getuid === undefined || stat.uid === process.getuid();
  return stat.isDirectory() && isOurs && (stat.mode & 0o022) === 0 ? directory : undefined;
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exitCode = 1;
}
