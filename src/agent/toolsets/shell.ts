import type * as z from "zod";
import { type DefinedTool, defineTool, failed, interrupted } from "#agent/define-tool.ts";
import type { ToolsetConfig } from "#agent/team/team.ts";
import type { ToolContext, ToolOutcome, Toolset } from "#agent/toolset.ts";
import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { pause } from "#base/pause.ts";
import { SessionId } from "#contract/ids.ts";
import { describeDuration } from "#contract/tools/parse-duration.ts";
import { sayProcess } from "#contract/tools/process-text.ts";
import { processTools } from "#contract/tools/process-tools.ts";
import type { ToolInput, Tools } from "#contract/tools/tools.ts";
import { createFixedToolset } from "./fixed-toolset.ts";
import { sayProcesses } from "./tool-text.ts";

type ShellConfig = Extract<ToolsetConfig, { type: "shell" }>;

interface ShellDeps {
  readonly tools: Tools;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether the agent has a tool of this name. */
  readonly hasTool: (name: string) => boolean;
}

/** A command that ends sooner has nothing to say in between. */
const PROGRESS_AFTER_MS = 500;
const PROGRESS_EVERY_MS = 500;
const PROGRESS_WAIT_MS = 10_000;
/** Of one call; who wants to see more looks at the process's own session. */
const PROGRESS_BYTES = 64 * 1024;
const PROGRESS_READ_BYTES = 4096;
const KILL_MS = 1000;

/** Commands and background processes of the host, as an agent's tools. */
export function createShellToolset(config: ShellConfig, deps: ShellDeps): Toolset {
  const { tools } = deps;
  const own = { ...processTools.execute, description: describeExecute(config) };
  return createFixedToolset(config, {
    kind: "shell",
    tools: [
      fromSpec("execute", own, (input, context) =>
        execute(deps, { ...input, timeout: input.timeout ?? config.timeout_ms }, context),
      ),
      fromSpec("process_output", processTools.process_output, async (input, { signal }) =>
        sayProcess(await tools.process_output(input, { signal })),
      ),
      fromSpec("process_wait", processTools.process_wait, async (input, { signal }) =>
        sayProcess(await tools.process_wait(input, { signal })),
      ),
      fromSpec("process_list", processTools.process_list, async (input) => {
        const { processes, omitted } = await tools.process_list(input);
        return sayProcesses(processes, omitted);
      }),
      fromSpec("process_signal", processTools.process_signal, async (input, { signal }) =>
        sayDone(await tools.process_signal(input, { signal })),
      ),
      fromSpec("process_input", processTools.process_input, async (input) =>
        sayDone(await tools.process_input(input)),
      ),
    ],
  });
}

interface Spec<S extends z.ZodType> {
  readonly description: string;
  readonly input: S;
  readonly hints: { readonly read_only: boolean; readonly destructive: boolean };
}

/** A tool of the host. Those that only look are asked again and again while one waits. */
export function fromSpec<S extends z.ZodType>(
  name: string,
  { description, input, hints: { read_only, destructive } }: Spec<S>,
  run: (input: z.output<S>, context: ToolContext) => Promise<ToolOutcome | string>,
): DefinedTool {
  const hints = { read_only, destructive };
  return defineTool({ name, description, input, hints, polling: read_only, run });
}

function sayDone(done: { readonly success: boolean; readonly message: string }) {
  return { output: done.message, is_error: !done.success };
}

function describeExecute({ timeout_ms }: ShellConfig): string {
  const { description } = processTools.execute;
  if (timeout_ms === undefined) return description;
  return description.replace("(10s)", `(here ${describeDuration(timeout_ms)} unless you say it)`);
}

/**
 *   execute ── id is known ── progress … ── end ──────────→ its output
 *                                     └──── interrupted ──→ the id's whole tree is ended, then the answer
 *
 * An abort ends only the wait, so what was started by then is ended here. The host's answer is waited for even after
 * an abort: until it has come nobody knows whether something was started.
 */
async function execute(
  deps: ShellDeps,
  input: ToolInput<"execute">,
  context: ToolContext,
): Promise<ToolOutcome | string> {
  const { signal } = context;
  let started: string | undefined;
  let reporting = Promise.resolve();
  const over = new AbortController();
  const onStarted = (id: string) => {
    started = id;
    reporting = reportOutput(deps, { process_id: id, report: context.report }, over.signal);
  };
  try {
    const hasFileTool = deps.hasTool("read_file");
    const result = await deps.tools.execute(input, { signal, onStarted, hasFileTool });
    if (!signal.aborted) return sayProcess(result);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    over.abort();
    await reporting;
  }
  return started === undefined ? interrupted() : await endStarted(deps, started);
}

/** Without the signal, which is aborted already. */
async function endStarted({ tools }: ShellDeps, id: string): Promise<ToolOutcome> {
  const process_id = SessionId.parse(id);
  const { success, message } = await tools.process_signal({
    process_id,
    signal: "kill",
    escalate_after: KILL_MS,
  });
  const read = await tools.process_output({ process_id });
  const what = success
    ? "interrupted: the command and everything that it started were ended"
    : `interrupted: ${message}`;
  return failed(`${sayProcess(read)}\n[${what}]`);
}

interface Reporting {
  readonly process_id: string;
  readonly report: ToolContext["report"];
}

/** Tells people what the command prints while it runs; never fails, because the call itself goes on. */
async function reportOutput(
  deps: ShellDeps,
  { process_id, report }: Reporting,
  over: AbortSignal,
): Promise<void> {
  let since = 0;
  let told = 0;
  try {
    await pause(deps.clock, PROGRESS_AFTER_MS, over);
    while (!over.aborted && told < PROGRESS_BYTES) {
      const read = await deps.tools.process_output(
        {
          process_id: SessionId.parse(process_id),
          since,
          max_bytes: PROGRESS_READ_BYTES,
          wait: PROGRESS_WAIT_MS,
          wait_for: "output",
        },
        { signal: over },
      );
      since = read.next_offset;
      told += Buffer.byteLength(read.output);
      if (read.output !== "") report(read.output);
      if (!read.running) return;
      await pause(deps.clock, PROGRESS_EVERY_MS, over);
    }
  } catch (error) {
    if (!over.aborted) deps.log.warn("the output of a command cannot be followed", { error });
  }
}
