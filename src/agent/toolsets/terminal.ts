import { failed, interrupted } from "#agent/define-tool.ts";
import type { ToolsetConfig } from "#agent/team/team.ts";
import type { ToolContext, ToolOutcome, Toolset } from "#agent/toolset.ts";
import { SessionId } from "#contract/ids.ts";
import { terminalTools } from "#contract/tools/terminal-tools.ts";
import type { ToolInput, Tools } from "#contract/tools/tools.ts";
import { createFixedToolset } from "./fixed-toolset.ts";
import { fromSpec } from "./shell.ts";
import { sayState, sayTerminal } from "./tool-text.ts";

type TerminalConfig = Extract<ToolsetConfig, { type: "terminal" }>;

/** Programs that need a screen, driven by what stands on it. */
export function createTerminalToolset(
  config: TerminalConfig,
  { tools }: { readonly tools: Tools },
): Toolset {
  return createFixedToolset(config, {
    kind: "terminal",
    tools: [
      fromSpec("terminal_open", terminalTools.terminal_open, (input, context) =>
        open(tools, input, context),
      ),
      fromSpec("terminal_type", terminalTools.terminal_type, async (input, { signal }) =>
        sayTerminal(await tools.terminal_type(input, { signal })),
      ),
      fromSpec("terminal_screen", terminalTools.terminal_screen, async (input, { signal }) =>
        sayTerminal(await tools.terminal_screen(input, { signal })),
      ),
      fromSpec("terminal_wait", terminalTools.terminal_wait, async (input, { signal }) => {
        const { matched, ...view } = await tools.terminal_wait(input, { signal });
        return `${sayTerminal(view)}\n[${matched ? "it has come" : "it has not come"}]`;
      }),
      fromSpec("terminal_close", terminalTools.terminal_close, async (input) => {
        const { success, state } = await tools.terminal_close(input);
        return { output: sayState(state), is_error: !success };
      }),
    ],
  });
}

/** Who is interrupted before it has an id could never close the terminal. */
async function open(
  tools: Tools,
  input: ToolInput<"terminal_open">,
  { signal }: ToolContext,
): Promise<ToolOutcome | string> {
  let started: string | undefined;
  const onStarted = (id: string) => {
    started = id;
  };
  try {
    const view = await tools.terminal_open(input, { signal, onStarted });
    if (!signal.aborted) return sayTerminal(view);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (started === undefined) return interrupted();
  await tools.terminal_close({ terminal_id: SessionId.parse(started) });
  return failed("interrupted: the terminal was closed again");
}
