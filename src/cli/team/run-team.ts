import { constants } from "node:os";
import { readStdin } from "#cli/control/message-word.ts";
import { readEventHooks } from "#cli/hooks/event-hook.ts";
import { openRunHooks } from "#cli/hooks/run-hooks.ts";
import { notice, sayFault } from "#cli/program/exit.ts";
import { printable } from "#cli/program/printable.ts";
import { nameThere, openClient } from "#cli/target/open-client.ts";
import type { PendingListener } from "#cli/target/start-listener.ts";
import { findSession } from "#cli/target/target.ts";
import type { Client } from "#client/client.ts";
import { Fault } from "#contract/fault.ts";
import { createBackend } from "#contract/runtime/create-backend.ts";
import type { Runtime } from "#contract/runtime/runtime.ts";
import { createAgentRequest } from "./agent-request.ts";
import { createNotice, createPerson, createRefusal, Questions } from "./answers.ts";
import { Conversation, settleOutcome } from "./conversation.ts";
import { sayAhead } from "./detached.ts";
import { describeTeam, loadPlanned } from "./dry-run.ts";
import { LineInput } from "./line-input.ts";
import { checkNamedFiles } from "./prompt-file-check.ts";
import { EVERY_AGENT, parseTeamPlan, type TeamPlan } from "./team-plan.ts";
import { findSource } from "./team-source.ts";
import { createEventPrinter, createTextPrinter } from "./turn-printer.ts";

/** `reins run TEAM`: the session goes on whatever becomes of this process. */
export async function runTeam(argv: readonly string[]): Promise<number> {
  const plan = parseTeamPlan(argv);
  const isPerson = !plan.isHeadless && !plan.json && process.stdin.isTTY && process.stdout.isTTY;
  const hooks = await readEventHooks(plan.onEvent, plan);
  await checkNamedFiles(plan);
  if (plan.isDryRun) {
    await using asked = await openClient({ remote: plan.remote });
    process.stdout.write(describeTeam(await loadPlanned(asked, plan), plan));
    return 0;
  }
  const isSilent = plan.prompts.length === 0 && plan.session === undefined;
  if (isSilent && !isPerson && !plan.isDetached) throw noPrompt();
  const prompts = await readPrompts(plan);
  using listener = await openListenerFor(plan);
  await using client = await openClient({ remote: plan.remote, task: plan.task });
  await using runtime = await openRuntime(client, plan);
  const { session_id } = runtime;
  await listener?.serve(session_id);
  const name = nameThere(client, session_id);
  notice(`session ${session_id}; reins run --session ${name} comes back`);
  if (plan.isDetached) {
    await sayAhead(runtime, prompts);
    process.stdout.write(`${plan.json ? JSON.stringify({ session_id }) : session_id}\n`);
    return 0;
  }
  const { remote, session } = plan;
  await using _hooks = await openRunHooks(hooks, {
    ...{ session_id, remote, isNew: session === undefined },
  });
  const chat = isPerson && prompts.length === 0 ? await loadChat() : undefined;
  if (chat !== undefined)
    return await chat.runChat({ runtime, listSessions: listLive(client), name });
  return await talk(runtime, { ...plan, prompts, isPerson });
}

/** The view needs a terminal that can be drawn on; without one a line is a turn. */
async function loadChat() {
  const chat = await import("#cli/chat-view/chat.ts");
  return chat.canChat() ? chat : undefined;
}

function listLive(client: Client) {
  return async () => (await client.call("session.list", { state: "live" })).sessions;
}

async function openListenerFor({ listen }: TeamPlan): Promise<PendingListener | undefined> {
  if (listen === undefined) return undefined;
  const { openListener } = await import("#cli/target/start-listener.ts");
  return await openListener(listen);
}

interface Talk extends TeamPlan {
  /** Somebody sits at a terminal. */
  readonly isPerson: boolean;
}

async function talk(runtime: Runtime, plan: Talk): Promise<number> {
  using stack = new DisposableStack();
  const leaving = stack.use(new Leaving());
  let conversation: Conversation | undefined;
  const interrupt = () => {
    if (conversation?.isRunning === true) void conversation.interrupt();
    else if (plan.isPerson) process.stdout.write("\nCtrl-D leaves; the session goes on.\n> ");
    else leaving.leave("SIGINT");
  };
  leaving.onInterrupt(interrupt);
  const lines = plan.isPerson ? stack.use(new LineInput(interrupt)) : undefined;
  const respondent = createRespondent(runtime, plan, {
    lines,
    onEnd: () => leaving.leave(undefined),
  });
  conversation = new Conversation({
    runtime,
    printer: plan.json
      ? createEventPrinter()
      : createTextPrinter({ isTerminal: process.stdout.isTTY }),
    questions: new Questions(respondent),
    leaving: leaving.signal,
  });
  try {
    if (lines !== undefined && plan.prompts.length === 0)
      return await talkByLines(conversation, runtime, lines);
    return await sayPrompts(conversation, plan);
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    notice(`left; ${runtime.session_id} goes on`);
    return leaving.exitCode;
  }
}

function createRespondent(
  runtime: Runtime,
  plan: Talk,
  { lines, onEnd }: { readonly lines: LineInput | undefined; readonly onEnd: () => void },
) {
  if (plan.isHeadless) return createRefusal(runtime);
  return lines === undefined ? createNotice(runtime) : createPerson(runtime, lines, onEnd);
}

/** One turn each, up to the first that is not done. A turn that is under way comes first. */
async function sayPrompts(conversation: Conversation, { prompts, session }: Talk): Promise<number> {
  const joined = session === undefined ? undefined : await conversation.join();
  if (joined === undefined && prompts.length === 0) throw noPrompt();
  let code = joined === undefined ? 0 : settleOutcome(joined);
  for (const prompt of prompts) {
    // What was under way is told, and is no answer to what is asked now.
    code = settleOutcome(await conversation.say(prompt));
    if (code !== 0) return code;
  }
  return code;
}

/** A line is a turn, until Ctrl-D. */
async function talkByLines(
  conversation: Conversation,
  runtime: Runtime,
  lines: LineInput,
): Promise<number> {
  const welcome = await findWelcome(runtime);
  if (welcome !== undefined) process.stdout.write(`${printable(welcome)}\n`);
  await showTurn(() => conversation.join());
  for (;;) {
    const heard = await lines.ask("> ");
    if (typeof heard === "string") break;
    if (heard.line.trim() !== "") await showTurn(() => conversation.say(heard.line));
  }
  process.stderr.write(`\nreins: ${runtime.session_id} goes on\n`);
  return 0;
}

/** What goes wrong in one turn does not end the conversation. */
async function showTurn(run: () => ReturnType<Conversation["join"]>): Promise<void> {
  try {
    const outcome = await run();
    if (outcome !== undefined) settleOutcome(outcome);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    sayFault(error);
  }
}

/** Before anything was said. */
async function findWelcome(runtime: Runtime): Promise<string | undefined> {
  let welcome: string | undefined;
  for await (const { data } of runtime.events({ since: 0, follow: false })) {
    if (data.type === "agent.info") welcome = data.welcome_message;
    if (data.type === "message.user") return undefined;
  }
  return welcome;
}

async function openRuntime(client: Client, plan: TeamPlan): Promise<Runtime> {
  const isRemote = client.address !== undefined;
  const backend = createBackend(client);
  if (plan.session === undefined) {
    const source = findSource(plan.team ?? "", { isRemote });
    return await backend.create(
      createAgentRequest({ ...plan, session: undefined, isRemote, source }),
    );
  }
  const { session_id: session } = await findSession(client, plan.session, { kind: "agent" });
  const team = plan.team === undefined ? undefined : await loadPlanned(client, plan);
  const runtime = await backend.create(createAgentRequest({ ...plan, isRemote, session }));
  if (team !== undefined && (await runtime.startup()).team_id !== team.team_id)
    notice("the session goes on with the team that it began with");
  await changeSession(runtime, plan);
  return runtime;
}

/** What may be chosen anew for a session that is there. */
async function changeSession(runtime: Runtime, plan: TeamPlan): Promise<void> {
  const { agent, models, safety, title } = plan;
  if (safety !== undefined) {
    const { safety: checked } = createAgentRequest({ ...plan, session: undefined, isRemote: true });
    await runtime.setPermissions({ safety: checked });
  }
  if (agent !== undefined) await runtime.setCurrentAgent(agent);
  for (const [name, model] of Object.entries(models))
    await runtime.setModel(name === EVERY_AGENT ? { model } : { agent: name, model });
  if (title !== undefined) await runtime.setTitle(title);
}

async function readPrompts({ prompts }: TeamPlan): Promise<string[]> {
  const said: string[] = [];
  for (const prompt of prompts) said.push(prompt === "-" ? await readStdin() : prompt);
  if (said.some((prompt) => prompt.trim() === ""))
    throw new Fault("invalid_request", "a prompt is empty");
  return said;
}

function noPrompt(): Fault {
  return new Fault(
    "invalid_request",
    "there is no prompt, and no terminal to type one at: reins run TEAM.yaml PROMPT, or `-` for stdin",
  );
}

/** Signals: the first Ctrl-C is for the turn, the second and whatever else ends us makes us leave. */
class Leaving implements Disposable {
  readonly #abort = new AbortController();
  readonly #stack = new DisposableStack();
  #by: NodeJS.Signals | undefined;

  constructor() {
    for (const name of ["SIGTERM", "SIGHUP"] as const) this.#on(name, () => this.leave(name));
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get exitCode(): number {
    return this.#by === undefined ? 0 : 128 + constants.signals[this.#by];
  }

  onInterrupt(listener: () => void): void {
    let count = 0;
    this.#on("SIGINT", () => {
      count += 1;
      if (count > 1) this.leave("SIGINT");
      else listener();
    });
  }

  leave(by: NodeJS.Signals | undefined): void {
    this.#by ??= by;
    this.#abort.abort();
  }

  #on(name: NodeJS.Signals, listener: () => void): void {
    process.on(name, listener);
    this.#stack.defer(() => process.off(name, listener));
  }

  [Symbol.dispose](): void {
    this.#stack.dispose();
  }
}
