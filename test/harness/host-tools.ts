import { openPatterns } from "#app/read/patterns.ts";
import { systemClock } from "#base/clock.ts";
import type { Tools } from "#contract/tools/tools.ts";
import { openScreens } from "#screen/screens.ts";
import { createLocalHosts } from "#session/local-host.ts";
import { createTools } from "#tools/tools.ts";
import { anyPlaces, callerEnvironment, createTestCaller } from "./caller.ts";
import { openTestHost, type TestHost } from "./host.ts";
import { openTempDir } from "./temp-dir.ts";

export interface HostTools extends AsyncDisposable {
  readonly host: TestHost;
  readonly workDir: string;
  readonly tools: Tools;
}

/** Every tool for models over a real host, for one agent in a directory of its own. */
export async function openHostTools(): Promise<HostTools> {
  await using stack = new AsyncDisposableStack();
  const workDir = stack.use(openTempDir()).path;
  const host = stack.use(await openTestHost());
  const hosts = createLocalHosts(host.client, host.sessions);
  const deps = {
    hosts,
    places: anyPlaces,
    screens: stack.use(openScreens({ hosts })),
    patterns: stack.use(openPatterns()),
    clock: systemClock,
    requireWorkdir: false,
  };
  const env = { ...callerEnvironment(), HOME: workDir };
  const caller = createTestCaller({ work_dir: workDir, env, process_owner: "agent one" });
  const owned = stack.move();
  return {
    host,
    workDir,
    tools: createTools(deps, caller),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
