// What `npm start` shows: an agent that needs no key and no network, and what else there is.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const isPerson = process.stdin.isTTY === true && process.stdout.isTTY === true;

process.stderr.write(`Reins runs agents and terminals that you can always get back to.

  bin/reins run examples/hello.yaml   an agent on a script: no key, no network (this is shown now)
  bin/reins run                       a shell that outlives this terminal
  bin/reins ps                        what runs; bin/reins attach gets back to it
  bin/reins serve                     all of it over HTTP, WebSocket and MCP

`);
// Without a person there is nobody to talk to: one greeting, and it ends.
const prompt = isPerson ? [] : ["--exec", "Hello"];
const { status } = spawnSync(
  process.execPath,
  ["bin/reins", "run", "examples/hello.yaml", ...prompt],
  { cwd: root, stdio: "inherit" },
);
process.exitCode = status ?? 1;
