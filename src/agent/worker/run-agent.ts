import { asFault, Fault, toFaultBody } from "#contract/fault.ts";
import {
  type WorkerInput,
  type WorkerReply,
  type WorkerRequestType,
  workerInputs,
} from "#contract/operations/worker-requests.ts";
import { parseRequest } from "#contract/parse.ts";
import { defined } from "#contract/values/defined.ts";
import type { Agent } from "./agent.ts";

interface RunAgentOptions {
  /** Requests, a line each. */
  readonly input: AsyncIterable<string>;
  /** Events and replies, a line each, in one order. */
  readonly output: (line: WorkerReply) => void;
  /** Answers the first request. */
  readonly open: (init: WorkerInput<"init">) => Promise<Agent>;
  /** From now on nothing is taken in: who asks asks the next life. */
  readonly isLeaving: () => boolean;
  /** Called whenever a request behind the first one has been answered: a moment to think of parking. */
  readonly answered: () => void;
}

type Reply = Omit<WorkerReply, "type" | "id">;

/**
 * A worker's life: the first line opens the agent, each further one asks it something, and each gets exactly one reply.
 * Ends with the input; who called it disposes of the agent.
 */
export async function runAgent(options: RunAgentOptions): Promise<Agent | undefined> {
  const { input, output } = options;
  const reply = (id: string, answer: Reply) => output({ type: "reply", id, ...answer });
  let agent: Agent | undefined;
  const pending = new Set<Promise<void>>();
  for await (const line of input) {
    if (options.isLeaving()) break;
    if (line.trim() === "") continue;
    const read = readLine(line);
    if ("problem" in read) {
      reply(read.id, { error: describe(read.problem) });
      continue;
    }
    const { id, type, body } = read;
    if (agent === undefined) {
      agent = await begin(options, read, (answer) => reply(id, answer));
      continue;
    }
    const running = ask(agent, type, body).then((answer) => {
      reply(id, answer);
      pending.delete(running);
      options.answered();
    });
    pending.add(running);
  }
  await Promise.all(pending);
  return agent;
}

interface Asked {
  readonly id: string;
  readonly type: WorkerRequestType;
  readonly body: unknown;
}

async function begin(
  { open }: RunAgentOptions,
  { type, body }: Asked,
  reply: (answer: Reply) => void,
): Promise<Agent | undefined> {
  try {
    if (type !== "init") throw new Fault("conflict", "the first request must be init");
    const agent = await open(parseInput("init", body));
    reply({ result: { life: agent.fold.life, agent: agent.fold.agent } });
    return agent;
  } catch (error) {
    reply({ error: describe(asFault(error)) });
    return undefined;
  }
}

async function ask(agent: Agent, type: WorkerRequestType, body: unknown): Promise<Reply> {
  try {
    if (type === "init") throw new Fault("conflict", "init was said already");
    const result = await agent.handle(type, parseInput(type, body));
    // What a request is answered with is JSON by its schema.
    return { result: result as WorkerReply["result"] };
  } catch (error) {
    return { error: describe(asFault(error)) };
  }
}

function parseInput<T extends WorkerRequestType>(type: T, body: unknown): WorkerInput<T> {
  // The table has for each request the schema of its input.
  return parseRequest(workerInputs[type], body) as WorkerInput<T>;
}

function readLine(line: string): Asked | { readonly id: string; readonly problem: Fault } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { id: "", problem: new Fault("invalid_request", "the line is not JSON") };
  }
  const { id, type, ...body } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const name = typeof id === "string" ? id : "";
  if (typeof type !== "string" || !Object.hasOwn(workerInputs, type))
    return {
      id: name,
      problem: new Fault("invalid_request", `type: ${JSON.stringify(type ?? null)} is no request`),
    };
  return { id: name, type: type as WorkerRequestType, body };
}

function describe(fault: Fault): NonNullable<WorkerReply["error"]> {
  const { code, message, details } = toFaultBody(fault);
  // What a fault says about itself is JSON; what is not is left out by this.
  const plain = JSON.parse(JSON.stringify(details ?? {})) as NonNullable<
    WorkerReply["error"]
  >["details"];
  return { code, message, ...defined({ details: plain }) };
}
