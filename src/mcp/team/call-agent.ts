import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  SdkError,
  SdkErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import { applyEvent, recentConversation } from "#contract/conversation/conversation.ts";
import { turnEnds } from "#contract/conversation/notices.ts";
import { type TurnOutcome, untilTurnEnd } from "#contract/conversation/turn-outcome.ts";
import { Fault, fromFaultBody } from "#contract/fault.ts";
import { SessionId } from "#contract/ids.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { StreamItem } from "#contract/operations.ts";
import { parseRequest } from "#contract/parse.ts";
import type { Runtime } from "#contract/runtime/runtime.ts";
import { openProgress, type Progress } from "#mcp/progress.ts";
import { describeFailure } from "#mcp/tool-result.ts";
import { AgentInput, type ServedAgent, type TeamServerDeps } from "./agent-tool.ts";
import { answerAll, describeQuestions, isQuestion, refuseQuestion } from "./questions.ts";

/**
 * A call is one turn of a session. When the agent asks something, the call is answered by the questions and comes back
 * with their answers, as the protocol has it; older clients are asked by the SDK in the middle of the call. Between the
 * two the turn waits at the host, and the log knows where we were:
 *
 *   message ─► turn ─► question ─► input required {session, turn, offset} ─► answers ─► turn goes on ─► result
 */
interface Call {
  readonly input: unknown;
  readonly context: ServerContext;
  readonly canAsk: boolean;
}

/** Where a call that asked something goes on. It comes from the client, so it is checked like every input. */
const Place = z.strictObject({
  session_id: SessionId,
  turn_id: z.string().max(100),
  since: z.int().min(0),
});
type Place = z.infer<typeof Place>;

type Answer = CallToolResult | InputRequiredResult;

export async function callAgent(
  deps: TeamServerDeps,
  agent: ServedAgent,
  call: Call,
): Promise<Answer> {
  const { mcpReq } = call.context;
  try {
    using progress = openProgress(deps, agent.tool, call.context);
    const place = parsePlace(mcpReq.requestState());
    const { message, session_id } = parseRequest(AgentInput, call.input);
    await using runtime = await openSession(deps, agent, {
      session_id: place?.session_id ?? session_id,
      isHeadless: !call.canAsk,
    });
    interruptWhenCancelled(runtime, mcpReq.signal);
    if (place !== undefined) await answerAll(runtime, mcpReq.inputResponses ?? {});
    const { signal } = mcpReq;
    const items =
      place === undefined
        ? runtime.run([{ content: message }], { signal })
        : untilTurnEnd(runtime.events({ since: place.since, signal }), place.turn_id);
    return await followTurn(runtime, items, { ...call, progress, place });
  } catch (error) {
    const { aborted: isExpected, reason } = mcpReq.signal;
    return describeFailure(deps, agent.tool, { error: isExpected ? reason : error, isExpected });
  }
}

interface Following extends Call {
  readonly progress: Progress;
  readonly place: Place | undefined;
}

async function followTurn(
  runtime: Runtime,
  items: AsyncIterable<StreamItem<AnyEvent>>,
  { progress, place, canAsk }: Following,
): Promise<Answer> {
  let talk = recentConversation;
  let turn_id = place?.turn_id;
  // There may be more questions than were answered.
  let left = place === undefined ? undefined : await ask(runtime, place);
  if (left !== undefined) return left;
  for await (const { id: since, data } of items) {
    talk = applyEvent(talk, data);
    turn_id = findTurn(data) ?? turn_id;
    if (data.type === "tool.call.end") progress.tell(`${data.agent ?? "agent"}: ${data.tool}`);
    if (!isQuestion(data)) continue;
    const { session_id } = runtime;
    if (canAsk) left = await ask(runtime, { session_id, turn_id, since });
    else await refuseQuestion(runtime, data);
    if (left !== undefined) return left;
  }
  if (talk.outcome !== undefined) return describeOutcome(runtime.session_id, talk.outcome);
  throw new Fault("host_unavailable", "the agent's process ended in the middle of the turn", {
    details: { session_id: runtime.session_id },
  });
}

function findTurn(event: AnyEvent): string | undefined {
  return event.type === "turn.started" && event.subagent_id === undefined
    ? event.turn_id
    : undefined;
}

/** Everything that is open is asked at once; undefined when somebody else has answered it. */
async function ask(runtime: Runtime, place: object): Promise<Answer | undefined> {
  const inputRequests = describeQuestions(await runtime.snapshot());
  if (Object.keys(inputRequests).length === 0) return undefined;
  return inputRequired({ inputRequests, requestState: JSON.stringify(place) });
}

function describeOutcome(
  session_id: string,
  { reason, response, message, code }: TurnOutcome,
): CallToolResult {
  if (reason === "error") throw failure(session_id, { code, message });
  const note =
    reason === "done" ? [] : [`[${reason}${message === undefined ? "" : `: ${message}`}]`];
  const said = [...(response === "" ? [] : [response]), ...note].join("\n");
  return {
    content: [{ type: "text", text: said === "" ? "(it said nothing)" : said }],
    structuredContent: { session_id, response, reason },
  };
}

function failure(
  session_id: string,
  { code, message = turnEnds.error }: { code: string | undefined; message: string | undefined },
): Fault {
  // Without a code a hook has refused it.
  return fromFaultBody({ code: code ?? "forbidden", message, details: { session_id } });
}

interface Wanted {
  readonly session_id: string | undefined;
  readonly isHeadless: boolean;
}

/** A new session, or one of this team whose agent is the tool's, or one that the tool's agent may hand over to. */
async function openSession(
  { backend, request, team }: TeamServerDeps,
  { name, tool }: ServedAgent,
  { session_id, isHeadless }: Wanted,
): Promise<Runtime> {
  if (session_id === undefined) {
    const { team_id: teamId } = team;
    return await backend.create(request({ teamId, agent: name, isHeadless }));
  }
  const runtime = await backend.open(session_id);
  const [{ team_id }, { agent }] = await Promise.all([runtime.startup(), runtime.snapshot()]);
  if (team_id === team.team_id && findSuccessors(team.agents, name).has(agent)) return runtime;
  throw new Fault("invalid_request", `session_id: this is no conversation with ${tool}`, {
    details: { session_id },
  });
}

function findSuccessors(
  agents: TeamServerDeps["team"]["agents"],
  first: string,
): ReadonlySet<string> {
  const found = new Set([first]);
  // A set that grows while it is walked is walked to its end.
  for (const name of found)
    for (const next of agents.find((agent) => agent.name === name)?.handoffs ?? []) found.add(next);
  return found;
}

/** Who cancels means the turn; who has gone away does not. The session stays in any case. */
function interruptWhenCancelled(runtime: Runtime, signal: AbortSignal): void {
  const interrupt = () => {
    if (isClosed(signal.reason)) return;
    // It may have ended by itself meanwhile, and then there is nobody left to tell.
    runtime.interrupt().catch(() => undefined);
  };
  if (signal.aborted) interrupt();
  else signal.addEventListener("abort", interrupt, { once: true });
}

function isClosed(reason: unknown): boolean {
  return reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed;
}

function parsePlace(state: string | undefined): Place | undefined {
  if (state === undefined) return undefined;
  try {
    return Place.parse(JSON.parse(state));
  } catch (error) {
    throw new Fault("invalid_request", "requestState: this is none of ours", { cause: error });
  }
}
