import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { ShellDeps } from "#app/shell/claim.ts";
import { createShellOperations } from "#app/shell/shell.ts";
import { systemClock } from "#base/clock.ts";
import { silentLogger } from "#base/logger.ts";
import { LOCAL_WORKSPACE } from "#contract/ids.ts";
import type { ShellEvent } from "#contract/shell.ts";
import type { HostClient } from "#host/socket/client.ts";
import { createLocalHosts } from "#session/local-host.ts";
import { openStore } from "#store/store.ts";
import { countDescriptors } from "./process-facts.ts";

/** A host and its data directory, as tests and long runs open them. */
export interface ShellHost {
  readonly client: HostClient;
  readonly pid: number;
  readonly dataDir: string;
  readonly sessions: string;
}

export interface ShellHeld {
  readonly descriptors: number;
  readonly own_descriptors: number;
  readonly files: number;
  readonly temporary: number;
  readonly live: number;
}

export interface ManyRuns {
  readonly before: ShellHeld;
  readonly after: ShellHeld;
  readonly median_ms: number;
  readonly wrong: readonly string[];
}

const TEMPORARY = "/tmp";
/** What is opened once is open after these. */
const WARM_UP = 5;

/** Runs so many commands in one shell and fails to start as many in another, then looks what is left of them. */
export async function runManyShellRuns(
  host: ShellHost,
  { runs }: { readonly runs: number },
): Promise<ManyRuns> {
  using store = openStore({ path: join(host.dataDir, "reins.db"), clock: systemClock });
  const deps: ShellDeps = {
    ...{ clock: systemClock, log: silentLogger, store: store.shells },
    hosts: createLocalHosts(host.client, host.sessions),
    places: { hasWorkspace: () => true, findTask: () => undefined },
    folder: join(host.dataDir, "shells"),
  };
  const { PATH = "/usr/bin:/bin" } = process.env;
  const operations = createShellOperations(deps, {
    ...{ user_id: undefined, token_id: undefined, role: "admin", workspaces: "*" },
    ...{ workspace_id: LOCAL_WORKSPACE, where: { env: { PATH }, work_dir: "/", umask: 0o022 } },
  });
  const good = (await operations["shell.create"]({})).shell_id;
  const bad = (await operations["shell.create"]({ env: { PATH: "/nonexistent" } })).shell_id;
  const wrong: string[] = [];
  const times: number[] = [];
  const runOne = async (serial: number) => {
    const started = performance.now();
    const command = `[ "$n" = "${serial === 0 ? "" : serial - 1}" ] || exit 9; n=${serial}; echo $n`;
    const events: ShellEvent[] = [];
    for await (const { data } of await operations["shell.run"]({ shell_id: good, command }))
      events.push(data);
    times.push(performance.now() - started);
    const end = events.at(-1);
    if (end?.type !== "exit" || end.exit_code !== 0 || !end.state_saved)
      wrong.push(JSON.stringify(end));
  };
  const failOne = async () => {
    const code = await operations["shell.run"]({ shell_id: bad, command: "echo" }).then(
      () => "it started",
      (error: { readonly code?: string }) => error.code,
    );
    if (code !== "spawn_failed") wrong.push(String(code));
  };
  const look = async (): Promise<ShellHeld> => ({
    descriptors: countDescriptors(host.pid),
    own_descriptors: countDescriptors(process.pid),
    files: readdirSync(deps.folder, { recursive: true }).length,
    temporary: existsSync(TEMPORARY) ? readdirSync(TEMPORARY).length : 0,
    live: (await host.client.call("session.list", { state: "live" })).sessions.length,
  });
  for (let serial = 0; serial < WARM_UP; serial += 1) {
    await runOne(serial);
    await failOne();
  }
  const before = await look();
  times.length = 0;
  for (let serial = 0; serial < runs; serial += 1) {
    await runOne(WARM_UP + serial);
    await failOne();
  }
  const after = await look();
  const median_ms = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
  return { before, after, median_ms, wrong };
}
