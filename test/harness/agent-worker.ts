import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { AgentSpec } from "#contract/agent/spec.ts";

/**
 * Speaks the protocol of an agent's worker and does as it is told, in a process of its own:
 *   `end`   says its key and ends          `crash`  answers, begins a turn and is killed in it
 *   `park`  answers, and ends by itself     `wait`   begins a turn that only an interrupt ends
 *   `tools` says that they have changed
 *   `env`   says which variables and keys it has    `big`  answers with a long line
 */
export const workerPath = fileURLToPath(import.meta.url);

interface Request {
  readonly id: string;
  readonly type: string;
  readonly keys?: Readonly<Record<string, string>>;
  readonly spec?: AgentSpec;
  readonly messages?: readonly { readonly content: string }[];
  readonly idempotency_key?: string;
  readonly [field: string]: unknown;
}

const BIG_CHARS = 600_000;

/** To what it has no part of its own for. */
const answers: Readonly<Record<string, object>> = {
  steer: { status: "queued", position: 1 },
  followup: { status: "queued", position: 1 },
  summarize: { outcome: "skipped", message: "there is nothing to summarize" },
  toolsets: { toolsets: [] },
  restart_toolset: { name: "t", kind: "think", status: "ready", tools: 1, restartable: true },
  models: { models: [{ model: "m", current: true }] },
  prompts: { prompts: [] },
  prompt: { text: "filled in" },
  skills: { skills: [] },
};

class Worker {
  #keys: Readonly<Record<string, string>> | undefined;
  #turn: string | undefined;
  #turns = 0;
  readonly #seen = new Map<string, string>();

  hear(request: Request): void {
    if (request.type === "init") this.#init(request);
    else if (this.#keys === undefined) fail(`${request.type} came before init`);
    else if (request.type === "messages") this.#send(request);
    else if (request.type === "interrupt") this.#interrupt(request);
    else if (request.type === "tools") this.#tools(request);
    else if (request.type === "resume" && request.approval_id === "none")
      refuse(request, "nothing_pending", "nothing waits for an answer");
    else reply(request, answers[request.type] ?? {});
  }

  #init(request: Request): void {
    if (this.#keys !== undefined) {
      refuse(request, "conflict", "it has begun before");
      return;
    }
    const { spec, keys = {} } = request;
    if (spec?.agent === "broken") {
      refuse(request, "team_invalid", "no key for openai");
      process.exit(0);
    }
    if (spec?.agent === "killed") process.kill(process.pid, "SIGKILL");
    if (spec?.agent === "silent") fail("it would not start");
    this.#keys = keys;
    if (spec !== undefined) {
      const { agent, name } = spec;
      const described = { name: agent, description: "A test.", model: "m", commands: {} };
      const agents = [{ ...described, sub_agents: [], handoffs: [] }];
      say({ type: "team.info", name, default_agent: agent, agents, spec });
    }
    const agent = spec?.agent ?? "root";
    const info = { name: agent, model: "m", description: "A test.", model_overrides: {} };
    say({ type: "agent.info", ...info, context_limit: null });
    reply(request, { life: 1, agent });
  }

  #send(request: Request): void {
    const { messages = [], idempotency_key = request.id } = request;
    const text = messages.map(({ content }) => content).join(" ");
    const known = this.#seen.get(idempotency_key);
    if (text === "end") {
      say({ type: "warning", code: "key", message: idempotency_key });
      process.exit(7);
    }
    if (known !== undefined) {
      reply(request, { status: "duplicate", turn_id: known });
      return;
    }
    if (this.#turn !== undefined) {
      refuse(request, "busy", "a turn runs");
      return;
    }
    this.#turns += 1;
    const turn_id = `turn_${this.#turns}_${process.pid}`;
    this.#seen.set(idempotency_key, turn_id);
    this.#turn = turn_id;
    say({ type: "turn.started", turn_id });
    const content = [{ type: "text", text }];
    const message_id = `${turn_id}_u`;
    say({ type: "message.user", turn_id, message_id, content, origin: "message", idempotency_key });
    reply(request, { status: "started", turn_id });
    if (text === "crash") process.kill(process.pid, "SIGKILL");
    if (text === "wait") return;
    if (text === "tools") say({ type: "tools.changed", toolset: "t", status: "ready", tools: [] });
    this.#answer(text === "env" ? this.#describe() : `heard ${text}`);
    this.#end("done");
    if (text === "park") process.exit(0);
  }

  #describe(): string {
    return JSON.stringify({ env: process.env, keys: Object.keys(this.#keys ?? {}) });
  }

  #answer(text: string): void {
    const turn_id = this.#turn;
    const message_id = `${turn_id}_a`;
    say({ type: "message.start", turn_id, message_id, model: "m" });
    say({ type: "message.end", turn_id, message_id, model: "m", text, stop_reason: "stop" });
  }

  #interrupt(request: Request): void {
    const interrupted = this.#turn !== undefined;
    if (interrupted) this.#end("interrupted");
    reply(request, { interrupted });
  }

  #tools(request: Request): void {
    const card = { name: "t", toolset: "s", input_schema: {}, read_only: true, destructive: false };
    reply(request, { tools: [{ ...card, description: "x".repeat(BIG_CHARS) }] });
  }

  #end(reason: string): void {
    say({ type: "turn.ended", turn_id: this.#turn, reason });
    this.#turn = undefined;
  }
}

function say(event: object): void {
  const at = new Date().toISOString();
  write({ ...event, at, session_id: process.env.REINS_SESSION_ID });
}

function reply({ id }: Request, result: object): void {
  write({ type: "reply", id, result });
}

function refuse({ id }: Request, code: string, message: string): void {
  write({ type: "reply", id, error: { code, message } });
}

function write(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function fail(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(3);
}

if (process.argv[2] === "agent") {
  const worker = new Worker();
  createInterface(process.stdin).on("line", (line) => worker.hear(JSON.parse(line)));
}
