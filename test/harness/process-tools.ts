import { openPatterns } from "#app/read/patterns.ts";
import { systemClock } from "#base/clock.ts";
import { parseRequest } from "#contract/parse.ts";
import { processTools } from "#contract/tools/process-tools.ts";
import type { ToolInput, ToolOptions, ToolOutput } from "#contract/tools/tools.ts";
import { createLocalHosts } from "#session/local-host.ts";
import { createProcessTools } from "#tools/process/process.ts";
import type { ProcessDeps } from "#tools/process/visible-process.ts";
import { anyPlaces, type CallerParts, createTestCaller } from "./caller.ts";
import type { TestHost } from "./host.ts";

type Name = keyof typeof processTools;

export interface TestTools {
  /** As a model says it, through the tool's schema and back through that of its answer. */
  call<N extends Name>(
    name: N,
    input: Readonly<Record<string, unknown>>,
    options?: ToolOptions,
  ): Promise<ToolOutput<N>>;
  execute(
    command: string,
    more?: Readonly<Record<string, unknown>>,
  ): Promise<ToolOutput<"execute">>;
}

export interface ToolsSetting {
  readonly caller?: CallerParts;
  readonly deps?: Partial<ProcessDeps>;
}

/** The process tools in this process, over a real host. */
export function openTestTools(host: TestHost, setting: ToolsSetting = {}): TestTools & Disposable {
  using stack = new DisposableStack();
  const patterns = stack.use(openPatterns());
  const tools = createProcessTools(
    {
      hosts: createLocalHosts(host.client, host.sessions),
      patterns,
      clock: systemClock,
      places: anyPlaces,
      requireWorkdir: false,
      ...setting.deps,
    },
    createTestCaller(setting.caller),
  );
  const call: TestTools["call"] = async (name, input, options) => {
    const { input: given, output } = processTools[name];
    // The schema of a tool makes the input that the tool takes, and the answer is of its own.
    const parsed = parseRequest(given, input) as ToolInput<typeof name>;
    const tool = tools[name] as (
      input: ToolInput<typeof name>,
      options: object | undefined,
    ) => Promise<unknown>;
    return output.parse(await tool(parsed, options)) as ToolOutput<typeof name>;
  };
  const owned = stack.move();
  return {
    call,
    execute: (command, more = {}) => call("execute", { command, timeout: "20s", ...more }),
    [Symbol.dispose]: () => owned.dispose(),
  };
}

let naps = 0;

/** A command that sleeps as good as forever, and that no other process looks like. */
export function createNap(): string {
  naps += 1;
  return `sleep 9${process.pid}.${naps}`;
}
