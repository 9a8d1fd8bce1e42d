import * as z from "zod";
import type { AgentTool } from "#agent/toolset.ts";
import type { Logger } from "#base/logger.ts";
import { limits } from "#contract/limits.ts";
import { nameTool } from "./tool-names.ts";

/** A tool under the name that the model uses, and the one that its server knows. */
export interface ServerTool {
  readonly tool: AgentTool;
  readonly server_name: string;
}

const DESCRIPTION_CHARS = 8192;
const SCHEMA_CHARS = 64 * 1024;

const ListedTool = z.object({
  name: z.string().min(1).max(limits.name_chars),
  description: z.string().optional(),
  inputSchema: z
    .looseObject({ type: z.literal("object") })
    .refine((schema) => JSON.stringify(schema).length <= SCHEMA_CHARS, "the schema is too large"),
  annotations: z
    .object({ readOnlyHint: z.boolean().optional(), destructiveHint: z.boolean().optional() })
    .optional(),
});

interface ToolsOwner {
  readonly toolset: string;
  /** Only these, by the names that the model uses; absent = all. */
  readonly only: readonly string[] | undefined;
  readonly log: Logger;
}

/** What a server listed. A tool that is not understood is left out and told; the others work. */
export function describeTools(listed: readonly unknown[], owner: ToolsOwner): ServerTool[] {
  const { toolset, only, log } = owner;
  const found = new Map<string, ServerTool>();
  for (const entry of listed) {
    const { data, error } = ListedTool.safeParse(entry);
    if (data === undefined) {
      log.warn("a tool of an MCP server was left out", { toolset, error: z.prettifyError(error) });
      continue;
    }
    const name = nameTool(toolset, data.name);
    if (only !== undefined && !only.includes(name)) continue;
    if (!found.has(name)) found.set(name, describeTool(name, data));
  }
  return [...found.values()].slice(0, limits.tools_per_agent);
}

function describeTool(name: string, listed: z.output<typeof ListedTool>): ServerTool {
  const { description = "", annotations = {}, inputSchema } = listed;
  const { $schema: _, ...input_schema } = inputSchema;
  const read_only = annotations.readOnlyHint ?? false;
  return {
    server_name: listed.name,
    tool: {
      name,
      description: description.slice(0, DESCRIPTION_CHARS),
      input_schema,
      // What a server does not say is taken for the worse.
      hints: { read_only, destructive: !read_only && (annotations.destructiveHint ?? true) },
    },
  };
}
