import type * as z from "zod";
import type { AuditedAction } from "#app/audit.ts";
import { openPatterns } from "#app/read/patterns.ts";
import { systemClock } from "#base/clock.ts";
import { sessionTools, terminalTools } from "#contract/tools/terminal-tools.ts";
import type { ToolOutput, Tools } from "#contract/tools/tools.ts";
import { openScreens } from "#screen/screens.ts";
import { createLocalHosts } from "#session/local-host.ts";
import { createSessionTools } from "#tools/terminal/session-tools.ts";
import { createTerminalTools } from "#tools/terminal/terminal-tools.ts";
import { anyPlaces, type CallerParts, callerEnvironment, createTestCaller } from "./caller.ts";
import { openTestHost, type TestHost } from "./host.ts";
import { openTempDir } from "./temp-dir.ts";

const specs = { ...terminalTools, ...sessionTools };
type Name = keyof typeof specs;
/** A tool as a model calls it: words in, checked by the schema, and an answer that keeps to its own. */
export type CallTool = <N extends Name>(
  name: N,
  input: z.input<(typeof specs)[N]["input"]>,
  options?: { readonly signal?: AbortSignal },
) => Promise<ToolOutput<N>>;

export interface ModelTerminals extends AsyncDisposable {
  readonly host: TestHost;
  readonly workDir: string;
  readonly call: CallTool;
  /** The same for somebody else. */
  as(caller: CallerParts): CallTool;
  /** What was written down of all that was done. */
  readonly told: readonly AuditedAction[];
}

/** The tools for terminals and sessions over a real host, in a directory of their own. */
export async function openModelTerminals(): Promise<ModelTerminals> {
  await using stack = new AsyncDisposableStack();
  const workDir = stack.use(openTempDir()).path;
  const host = stack.use(await openTestHost());
  const hosts = createLocalHosts(host.client, host.sessions);
  const screens = stack.use(openScreens({ hosts }));
  const patterns = stack.use(openPatterns());
  const told: AuditedAction[] = [];
  const audit = { record: (done: AuditedAction) => void told.push(done) };
  const deps = { places: anyPlaces, hosts, screens, patterns, clock: systemClock, audit };
  const env = { ...callerEnvironment(), HOME: workDir };
  const as = (overrides: CallerParts) => {
    const caller = createTestCaller({ work_dir: workDir, env, ...overrides });
    return callerOf({ ...createTerminalTools(deps, caller), ...createSessionTools(deps, caller) });
  };
  const owned = stack.move();
  return {
    host,
    workDir,
    told,
    as,
    call: as({ process_owner: "agent one" }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function callerOf(tools: Pick<Tools, Name>): CallTool {
  return async (name, input, options) => {
    const { input: Input, output: Output } = specs[name];
    // The schema of a name gives what the handler of that name takes, which the types cannot say of both at once.
    const handler = tools[name] as (given: unknown, more?: object) => Promise<unknown>;
    const answer = await handler(Input.parse(input), options);
    return Output.parse(answer) as ToolOutput<typeof name>;
  };
}
