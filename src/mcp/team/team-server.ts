import {
  CLIENT_CAPABILITIES_META_KEY,
  McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import { describeOnly } from "#mcp/tool-schemas.ts";
import { AgentInput, AgentOutput, type TeamServerDeps } from "./agent-tool.ts";
import { callAgent } from "./call-agent.ts";

const INSTRUCTIONS =
  "Each tool is an agent: tell it what you want, and it works on it with tools of its own until it is done. Give the session_id of its answer to go on with the same conversation.";
/** People take their time, and an agent may ask often. */
const QUESTION_ROUNDS = 1000;
const QUESTION_MS = 24 * 60 * 60 * 1000;

/** A server with each agent of a team as a tool. */
export function createTeamServer(deps: TeamServerDeps): McpServer {
  const server = new McpServer(
    { name: "reins", title: "Reins", version: deps.version },
    {
      capabilities: { tools: { listChanged: false } },
      instructions: INSTRUCTIONS,
      inputRequired: { maxRounds: QUESTION_ROUNDS, roundTimeoutMs: QUESTION_MS },
    },
  );
  const schemas = {
    inputSchema: describeOnly(AgentInput),
    outputSchema: describeOnly(AgentOutput),
  };
  for (const agent of deps.agents) {
    const { tool, name, description, isReadOnly } = agent;
    server.registerTool(
      tool,
      {
        title: name,
        description: description === "" ? `The agent ${name}.` : description,
        ...schemas,
        annotations: {
          title: name,
          readOnlyHint: isReadOnly,
          destructiveHint: !isReadOnly,
          idempotentHint: false,
          openWorldHint: true,
        },
      },
      (input, context: ServerContext) =>
        callAgent(deps, agent, { input, context, canAsk: canAsk(server, context) }),
    );
  }
  return server;
}

/** What newer clients say of themselves with each request. */
const Envelope = z.object({
  [CLIENT_CAPABILITIES_META_KEY]: z.object({
    elicitation: z.object({ form: z.unknown(), url: z.unknown() }).partial().optional(),
  }),
});

/** Whether the client brings questions to a person; one that names no kind of them means forms. */
function canAsk({ server }: McpServer, { mcpReq }: ServerContext): boolean {
  const said = Envelope.safeParse(mcpReq.envelope).data?.[CLIENT_CAPABILITIES_META_KEY];
  const { elicitation } = said ?? server.getClientCapabilities() ?? {};
  return (
    elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
  );
}
