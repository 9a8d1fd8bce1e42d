import * as z from "zod";
import { Duration, FilePath, listOf, Name, Text, TextMap } from "./file-parts.ts";

const forEvery = {
  name: Name.optional().describe("What to call it; unique in its agent. The type unless given."),
  tools: listOf(Text).optional().describe("Only these of its tools; absent = all."),
  instruction: z.string().optional().describe("Added to the agent's instruction."),
};

const entryOf = <T extends string, S extends z.ZodRawShape>(type: T, what: string, shape: S) =>
  z.strictObject({ type: z.literal(type).describe(what), ...forEvery, ...shape }).describe(what);

/** An entry of an agent's `toolsets`. Each key is one of its type; on another type it is a mistake. */
export const ToolsetEntry = z.discriminatedUnion("type", [
  entryOf("shell", "Runs commands, in the background too.", {
    timeout: Duration.optional().describe("How long a command is waited for unless it is told."),
  }),
  entryOf("terminal", "Works in interactive programs on a terminal.", {}),
  entryOf("filesystem", "Reads, writes, edits and searches files of the work dir.", {
    allow_paths: listOf(FilePath)
      .optional()
      .describe("Folders besides the work dir that may be used; relative to the team file."),
    read_only: z.boolean().optional().describe("Whether writing is refused."),
  }),
  entryOf("fetch", "Reads pages of the web.", {
    allow_private: z
      .boolean()
      .optional()
      .describe("Whether addresses of this machine and of private networks may be read."),
    allow_hosts: listOf(Text)
      .optional()
      .describe("Only these hosts; `*.example.org` is what lies below one. Absent = all."),
    timeout: Duration.optional().describe("How long a page may take."),
  }),
  entryOf("think", "Lets the model write its thoughts down.", {}),
  entryOf("todo", "A list of what is to be done, kept with the session.", {}),
  entryOf("memory", "Remembers across sessions of the same team.", {}),
  entryOf("user_prompt", "Asks the person a question.", {}),
  entryOf("background_agents", "Starts sub-agents that work beside the conversation.", {}),
  entryOf("mcp", "The tools of an MCP server: give `command`, or `url`.", {
    command: Text.optional().describe("The program to start; it speaks MCP on stdin and stdout."),
    args: listOf(z.string()).optional().describe("The program's arguments."),
    env: TextMap.optional().describe(
      `Variables of the program; \`\${NAME}\` stands for one of ours.`,
    ),
    work_dir: FilePath.optional().describe("Where it starts; relative to the team file."),
    url: Text.optional().describe("Address of a server that speaks MCP over HTTP."),
    headers: TextMap.optional().describe(`Headers of each request; \`\${NAME}\` is a variable.`),
  }),
]);
export type ToolsetEntry = z.output<typeof ToolsetEntry>;
export type McpEntry = Extract<ToolsetEntry, { type: "mcp" }>;
