import * as z from "zod";
import { acts, adds, defineTool, failed, reads } from "#agent/define-tool.ts";
import type { ToolsetConfig } from "#agent/team/team.ts";
import type { Toolset } from "#agent/toolset.ts";
import { type Memory, type MemoryStore, MemoryText } from "#contract/agent/memory.ts";
import { limits } from "#contract/limits.ts";
import { createFixedToolset } from "./fixed-toolset.ts";

const SHOWN = 20;
const SHOWN_MOST = 50;

const Limit = z
  .int()
  .min(1)
  .max(SHOWN_MOST)
  .optional()
  .describe(`At most so many; default ${SHOWN}.`);

/** What the team knows from earlier sessions. */
export function createMemoryToolset(
  config: ToolsetConfig,
  { memory }: { readonly memory: MemoryStore },
): Toolset {
  return createFixedToolset(config, {
    kind: "memory",
    tools: [
      defineTool({
        name: "memory_add",
        description:
          "Remember a fact for later sessions of this team: a wish of the person, a decision and its reason, a trap of this project. One fact each, in a sentence that makes sense alone. Not for passwords or keys, and not for what the files say anyway.",
        input: z.strictObject({ text: MemoryText.describe("The fact, in one or two sentences.") }),
        hints: adds,
        run: ({ text }) => `remembered as ${memory.add(text).memory_id}`,
      }),
      defineTool({
        name: "memory_search",
        description:
          "Look for what the team remembers about something, the best match first. Use it at the start of work that may have been done or discussed before.",
        input: z.strictObject({
          query: z
            .string()
            .min(1)
            .max(limits.wait_pattern_chars)
            .describe("Words to look for; any of them will do."),
          limit: Limit,
        }),
        hints: reads,
        run: ({ query, limit = SHOWN }) => {
          const found = memory.search(query, limit);
          if (found.length > 0) return sayMemories(found);
          return `nothing of ${memory.count()} memories matches; try other words, or memory_list`;
        },
      }),
      defineTool({
        name: "memory_list",
        description:
          "List what the team remembers, the newest first. Use it to get an overview, or when a search found nothing.",
        input: z.strictObject({ limit: Limit }),
        hints: reads,
        run: ({ limit = SHOWN }) => {
          const found = memory.list(limit);
          if (found.length === 0) return "there are no memories yet";
          const more = memory.count() - found.length;
          return more > 0
            ? `${sayMemories(found)}\n[and ${more} older ones; memory_search finds them]`
            : sayMemories(found);
        },
      }),
      defineTool({
        name: "memory_delete",
        description:
          "Forget one memory. Use it when something turned out to be wrong or is no longer true, before you add what is right.",
        input: z.strictObject({
          memory_id: z
            .string()
            .max(limits.label_chars)
            .describe("The id that a list or search gave."),
        }),
        hints: acts,
        run: ({ memory_id }) =>
          memory.remove(memory_id)
            ? `forgot ${memory_id}`
            : failed(`there is no memory ${memory_id}`),
      }),
    ],
  });
}

function sayMemories(memories: readonly Memory[]): string {
  return memories
    .map(({ memory_id, text, created_at }) => `${memory_id} (${created_at.slice(0, 10)}): ${text}`)
    .join("\n");
}
