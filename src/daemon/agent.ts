import { createHash } from "node:crypto";
import { addAbortListener } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { AgentPorts, Blobs } from "#agent/ports.ts";
import { AgentState } from "#agent/state/agent-state.ts";
import type { Inherited } from "#agent/turn/repair.ts";
import { type Agent, openAgent } from "#agent/worker/agent.ts";
import { runAgent } from "#agent/worker/run-agent.ts";
import type { Caller, Where } from "#app/caller.ts";
import { type Clock, systemClock } from "#base/clock.ts";
import { isErrno } from "#base/errno.ts";
import type { Logger } from "#base/logger.ts";
import type { AgentSpec } from "#contract/agent/spec.ts";
import { Fault } from "#contract/fault.ts";
import { LOCAL_WORKSPACE, WorkspaceId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { WorkerInput } from "#contract/operations/worker-requests.ts";
import { defined } from "#contract/values/defined.ts";
import { locateDataDir } from "#host/data-dir.ts";
import { lines } from "#log/lines.ts";
import { openLogFiles } from "#log/log-files.ts";
import { readRange } from "#log/read-range.ts";
import { withoutMarks } from "#proc/environment.ts";
import { createLazyMemories } from "./lazy-memories.ts";
import { createLazyTools, openOnce } from "./lazy-tools.ts";
import { readLines } from "./read-lines.ts";
import { createStderrLogger } from "./stderr-logger.ts";

export interface WorkerOptions {
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

const CHUNK_BYTES = 256 * 1024;
/** Not parked: its session was cut, or it never began. The next life is to know it. */
const EXIT_ALONE = 1;

/**
 * One life of an agent session: events and replies on stdout, requests on stdin. Answers the exit code. Nothing has to
 * be saved at the end, because everything stands in the log as soon as it has happened.
 */
export async function runWorker(options: WorkerOptions): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const log = createStderrLogger(options.stderr);
  const write = createWriter(options.stdout);
  const { promise: ending, resolve: end } = Promise.withResolvers<Ending>();
  const { clock = systemClock, parkAfterMs: ms } = options;
  const idle = stack.use(
    new IdleWatch({ clock, ms, park: () => end("parked"), giveUp: () => end("alone") }),
  );
  const output = (event: object) => {
    write(event);
    idle.touch();
  };
  let agent: Agent | undefined;
  const ports = openPorts(options, { log, stack, output });
  const open = async (init: WorkerInput<"init">) => {
    agent = await openLife(options, ports, init);
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
  return how === "alone" ? EXIT_ALONE : 0;
}

/** Parked by itself, closed on request, or left alone: its host has gone, or no first line came. */
type Ending = "parked" | "closed" | "alone";

async function openLife(
  options: WorkerOptions,
  ports: AgentPorts,
  { keys, spec: given }: WorkerInput<"init">,
): Promise<Agent> {
  const fold = await readFold(options, options.session_id);
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
}

function openPorts(options: WorkerOptions, { log, stack, output }: Opening): AgentPorts {
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
  const { sessions } = locateDataDir(dataDir);
  return {
    session_id,
    clock: systemClock,
    log,
    version,
    output,
    tools: createLazyTools(async () => {
      const { createTools } = await import("#app/tools.ts");
      return createTools(await getDeps(), caller);
    }),
    openMemory: createLazyMemories({ locate: () => join(dataDir, "memory.db"), log, stack }),
    blobs: createBlobs(join(sessions, session_id, "blobs")),
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

function createBlobs(folder: string): Blobs {
  return {
    put: (data_b64) => {
      const bytes = Buffer.from(data_b64, "base64");
      const name = createHash("sha256").update(bytes).digest("hex");
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      try {
        writeFileSync(join(folder, name), bytes, { mode: 0o600, flag: "wx" });
      } catch (error) {
        // The same bytes were kept before.
        if (!isErrno(error, "EEXIST")) throw error;
      }
      return name;
    },
    get: (name) => {
      try {
        return readFileSync(join(folder, name)).toString("base64");
      } catch (error) {
        if (isErrno(error, "ENOENT")) return undefined;
        throw error;
      }
    },
  };
}

/** Everything that a session's log tells about it. */
async function readFold({ dataDir }: WorkerOptions, sessionId: string): Promise<AgentState> {
  const fold = new AgentState(sessionId);
  using events = openLogFiles(join(locateDataDir(dataDir).sessions, sessionId, "events"));
  const range = readRange(events, 0, { to: events.tail(), limit: CHUNK_BYTES });
  // A worker of ours or the host wrote it; the fold passes over what it does not know.
  for await (const line of lines(range))
    if (line.kind === "line") fold.apply(line.value as unknown as AnyEvent);
  return fold;
}

/** What a fork begins with: the first messages of the session that it comes from. */
async function readInherited(
  options: WorkerOptions,
  spec: AgentSpec | undefined,
): Promise<Inherited | undefined> {
  if (spec?.forked_from === undefined) return undefined;
  const { session_id, at } = spec.forked_from;
  const { conversation } = await readFold(options, session_id);
  const { sessions } = locateDataDir(options.dataDir);
  const blobs = createBlobs(join(sessions, session_id, "blobs"));
  return { items: conversation.items.slice(0, at), blobs };
}
