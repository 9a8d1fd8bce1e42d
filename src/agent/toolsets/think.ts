import * as z from "zod";
import { defineTool, reads } from "#agent/define-tool.ts";
import type { ToolsetConfig } from "#agent/team/team.ts";
import type { Toolset } from "#agent/toolset.ts";
import { limits } from "#contract/limits.ts";
import { createFixedToolset } from "./fixed-toolset.ts";

/** Room to think in between: what is written here stays in the conversation and does nothing. */
export function createThinkToolset(config: ToolsetConfig): Toolset {
  return createFixedToolset(config, {
    kind: "think",
    tools: [
      defineTool({
        name: "think",
        description:
          "Write down a thought before you act: compare ways, check what you have learned against the task, plan the next steps. It reads nothing and changes nothing. Use it when a result was unexpected or a decision is hard; skip it for simple steps.",
        input: z.strictObject({
          thought: z
            .string()
            .min(1)
            .max(limits.message_chars)
            .describe("The thought, in as many words as it needs."),
        }),
        hints: reads,
        run: () => "noted",
      }),
    ],
  });
}
