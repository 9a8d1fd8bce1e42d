// A gateway's part of a run, in a process of its own: starts a command in a shell and says the session, then waits.

import { startRun } from "#app/shell/run.ts";
import { locateDataDir } from "#host/data-dir.ts";
import { connectHost } from "#host/socket/connect-host.ts";
import { createLocalHosts } from "#session/local-host.ts";
import { createTestCaller } from "./caller.ts";
import { openShellDeps } from "./shells.ts";

const [dataDir = "", shell_id = "", command = ""] = process.argv.slice(2);
const dir = locateDataDir(dataDir);
using client = await connectHost(dir.socket);
using deps = openShellDeps(dataDir, createLocalHosts(client, dir.sessions));
const answer = await startRun(deps, createTestCaller(), { shell_id, command }).then(
  ({ session_id }) => session_id,
  (error: { readonly code?: string }) => error.code,
);
process.stdout.write(`${answer}\n`);
// Ends when it is killed, or with whoever started it.
process.stdin.resume();
await new Promise((resolve) => process.stdin.once("end", resolve));
