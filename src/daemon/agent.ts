import { addAbortListener } from "node:events";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { AgentPorts } from "#agent/ports.ts";
import { AgentState } from "#agent/state/agent-state.ts";
import type { Inherited } from "#agent/turn/repair.ts";
import { type Agent, openAgent } from "#agent/worker/agent.ts";
import { runAgent } from "#agent/worker/run-agent.ts";
import type { Caller, Where } from "#app/caller.ts";
import { type Clock, systemClock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { openOnce } from "#base/once.ts";
import type { AgentSpec } from "#contract/agent/spec.ts";
import { Fault } from "#contract/fault.ts";
import { LOCAL_WORKSPACE, WorkspaceId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { WorkerInput } from "#contract/operations/worker-requests.ts";
import { defined } from "#contract/values/defined.ts";
import { lines } from "#log/lines.ts";
import { withoutMarks } from "#proc/environment.ts";
import { createSessionFiles, type OwnSession, openOwnSession } from "#session/own-session.ts";
import { createLazyMemories } from "./lazy-memories.ts";
import { createLazyTools } from "./lazy-tools.ts";
import { readLines } from "./read-lines.ts";
import { createStderrLogger } from "./stderr-logger.ts";

interface WorkerOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly dataDir: string;
  readonly session_id: string;
  readonly version: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly umask: number;
  /** How long nothing may happen before it ends by itself, to come back when it is needed. */
  readonly parkAfterMs: number;
  /** Ends it: whoever closes the session. */
  readonly signal: AbortSignal;
  /** By which it parks. Override for tests. */
  readonly clock?: Clock;
}

/** Not parked: its session was cut, or it never began. The next life is to know it. */
const EXIT_ALONE = 1;

/**
 * One life of an agent session: events and replies on stdout, requests on stdin. Answers the exit code. Nothing has to
 * be saved at the end, because everything stands in the log as soon as it has happened.
 */
export async function runWorker(options: WorkerOptions): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const log = createStderrLogger(options.stderr);
  const ordered = new OrderedLines(createWriter(options.stdout), log);
  const { promise: ending, resolve: end } = Promise.withResolvers<Ending>();
  const { clock = systemClock, parkAfterMs: ms } = options;
  const idle = stack.use(
    new IdleWatch({ clock, ms, park: () => end("parked"), giveUp: () => end("alone") }),
  );
  const output = (event: object) => {
    ordered.write(event);
    idle.touch();
  };
  let agent: Agent | undefined;
  const open = async (init: WorkerInput<"init">) => {
    const own = await openOwnSession(options);
    ordered.follow(own);
    agent = await openLife(options, { log, stack, output, own }, init);
    idle.watch(agent);
    return agent;
  };
  let isLeaving = false;
  const input = readLines(options.stdin);
  void runAgent({
    ...{ input, output, open, isLeaving: () => isLeaving },
    answered: () => idle.noteRequest(),
  })
    .catch((error: unknown) => log.error("its requests cannot be read", { error }))
    .finally(() => end("alone"));
  // Also when it was closed while this program was being loaded.
  stack.use(addAbortListener(options.signal, () => end("closed")));
  const how = await ending;
  isLeaving = true;
  await (how === "parked" ? agent?.park() : agent?.[Symbol.asyncDispose]());
  await ordered.settle();
  return how === "alone" ? EXIT_ALONE : 0;
}

/** Parked by itself, closed on request, or left alone: its host has gone, or no first line came. */
type Ending = "parked" | "closed" | "alone";

async function openLife(
  options: WorkerOptions,
  opening: Opening,
  { keys, spec: given }: WorkerInput<"init">,
): Promise<Agent> {
  const ports = openPorts(options, opening);
  const fold = await readFold(options.session_id, opening.own);
  const spec = fold.spec ?? given;
  if (spec === undefined)
    throw new Fault("invalid_request", "spec: this session has none yet, so init must bring it");
  const inherited = await readInherited(options, fold.spec === undefined ? spec : undefined);
  return await openAgent({ ports, fold, spec, keys, inherited });
}

interface Parking {
  readonly clock: Clock;
  /** 0 = never. */
  readonly ms: number;
  readonly park: () => void;
  /** The process that started us has gone before the first line, or that line could not be followed. */
  readonly giveUp: () => void;
}

/** How long a worker stays for its first request: it was started in order to be asked, however soon it may park later. */
export const FIRST_REQUEST_MS = 10_000;

/** Asks an agent that has been quiet for a while whether it may go. */
class IdleWatch implements Disposable {
  readonly #parking: Parking;
  #agent: Agent | undefined;
  #wasAsked = false;
  #timer: Disposable | undefined;

  constructor(parking: Parking) {
    this.#parking = parking;
    this.#timer = parking.clock.timer(limits.agent_reply_ms, parking.giveUp);
  }

  watch(agent: Agent): void {
    this.#agent = agent;
    this.touch();
  }

  /** A request was answered: it has done what it was started for. */
  noteRequest(): void {
    this.#wasAsked = true;
    this.touch();
  }

  touch(): void {
    if (this.#agent === undefined) return;
    this.#timer?.[Symbol.dispose]();
    const { clock, ms, park } = this.#parking;
    if (ms === 0) return;
    this.#timer = clock.timer(this.#wasAsked ? ms : Math.max(ms, FIRST_REQUEST_MS), () => {
      if (this.#agent?.canPark === true) park();
      else this.touch();
    });
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#agent = undefined;
  }
}

/** Holds lines back until the blobs that they name are stored, so that none is named that was never there. */
class OrderedLines {
  readonly #write: (line: object) => void;
  readonly #log: Logger;
  #own: Pick<OwnSession, "kept"> | undefined;
  #held: Promise<void> | undefined;

  constructor(write: (line: object) => void, log: Logger) {
    this.#write = write;
    this.#log = log;
  }

  follow(own: Pick<OwnSession, "kept">): void {
    this.#own = own;
  }

  write(line: object): void {
    const kept = this.#own?.kept;
    if (kept === undefined && this.#held === undefined) this.#write(line);
    else this.#hold(line, kept);
  }

  async settle(): Promise<void> {
    await this.#held;
  }

  #hold(line: object, kept: Promise<unknown> | undefined): void {
    const report = (error: unknown) => this.#log.error("an image could not be kept", { error });
    const held = Promise.all([this.#held, kept])
      .catch(report)
      .then(() => {
        if (this.#held === held) this.#held = undefined;
        this.#write(line);
      })
      .catch(report);
    this.#held = held;
  }
}

/** What is longer than a line may be would be dropped by the host, and whoever asked would wait for it. */
function createWriter(stdout: Writable): (line: object) => void {
  return (line) => {
    const text = JSON.stringify(line);
    const isWhole =
      text.length < limits.event_line_bytes / 4 ||
      Buffer.byteLength(text) < limits.event_line_bytes;
    if (isWhole) stdout.write(`${text}\n`);
    else if ("type" in line && line.type === "reply" && "id" in line)
      stdout.write(`${JSON.stringify({ type: "reply", id: line.id, error: TOO_LONG })}\n`);
    else throw new Error("an event is longer than a line may be");
  };
}

const TOO_LONG = {
  code: "payload_too_large",
  message: `the answer is longer than ${limits.event_line_bytes} bytes`,
};

interface Opening {
  readonly log: Logger;
  readonly stack: AsyncDisposableStack;
  readonly output: AgentPorts["output"];
  readonly own: OwnSession;
}

function openPorts(options: WorkerOptions, { log, stack, output, own }: Opening): AgentPorts {
  const { session_id, dataDir, version } = options;
  const { REINS_BOUND_SESSION_ID } = options.env;
  // `reins` in a command, a hook or an MCP server finds this host, as this session. The host sets our other names.
  const env = {
    ...withoutMarks(options.env),
    REINS_HOME: dataDir,
    ...defined({ REINS_BOUND_SESSION_ID }),
  };
  // Their code, threads and connections come with the first tool that needs them.
  const getDeps = openOnce(async () => {
    const { openToolDeps } = await import("./tool-deps.ts");
    return openToolDeps({ ...options, log }, stack);
  });
  const caller = describeCaller(options, env);
  return {
    session_id,
    clock: systemClock,
    log,
    version,
    output,
    tools: createLazyTools(async () => {
      const { createTools } = await import("#tools/tools.ts");
      return createTools(await getDeps(), caller);
    }),
    openMemory: createLazyMemories({ locate: () => join(dataDir, "memory.db"), log, stack }),
    blobs: {
      put: (data_b64) => own.keepBlob(Buffer.from(data_b64, "base64")),
      get: async (name) => (await own.findBlob(name))?.toString("base64"),
    },
    home: options.env.HOME ?? homedir(),
    env,
    rename: async (title) => {
      const { hosts } = await getDeps();
      await hosts.of(session_id).call("session.rename", { session_id, title });
    },
  };
}

/** Its processes are its own: other agents do not see them. */
function describeCaller({ session_id, env, umask }: WorkerOptions, own: Where["env"]): Caller {
  const workspace = WorkspaceId.safeParse(env.REINS_WORKSPACE_ID);
  return {
    user_id: env.REINS_USER_ID,
    token_id: undefined,
    role: "operator",
    workspaces: "*",
    workspace_id: workspace.success ? workspace.data : LOCAL_WORKSPACE,
    where: { env: own, work_dir: process.cwd(), umask },
    process_owner: session_id,
    parent_session_id: session_id,
  };
}

/** Everything that a session's log tells about it. */
async function readFold(sessionId: string, { readEvents }: OwnSession): Promise<AgentState> {
  const fold = new AgentState(sessionId);
  // A worker of ours or the host wrote it; the fold passes over what it does not know.
  for await (const line of lines(readEvents()))
    if (line.kind === "line") fold.apply(line.value as unknown as AnyEvent);
  return fold;
}

/** The first messages of the session that a fork comes from, which is outside of the tree of this session. */
async function readInherited(
  { dataDir }: WorkerOptions,
  spec: AgentSpec | undefined,
): Promise<Inherited | undefined> {
  if (spec?.forked_from === undefined) return undefined;
  const { session_id, at } = spec.forked_from;
  const files = createSessionFiles(dataDir, session_id);
  const { conversation } = await readFold(session_id, files);
  const blobs = { get: (name: string) => files.findBlob(name)?.toString("base64") };
  return { items: conversation.items.slice(0, at), blobs };
}
