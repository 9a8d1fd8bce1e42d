import type { WebSocket } from "ws";
import { openControlOrWatch } from "#app/attach/attached-control.ts";
import type { Who } from "#app/caller.ts";
import { resolveSince } from "#app/read/output.ts";
import { openVisible, sessionNotFound } from "#app/visible-session.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { parseRequest } from "#contract/parse.ts";
import type { Session } from "#contract/session.ts";
import { closeCodes } from "#contract/terminal/close-codes.ts";
import { TerminalClientFrame, type TerminalServerFrame } from "#contract/terminal-frames.ts";
import { isAtLeast } from "#contract/token.ts";
import { checkSince } from "./attach.ts";
import { onMessages, parseFrame } from "./messages.ts";
import { Outbox } from "./outbox.ts";
import type { Handshaken, OpenSocket, SocketDeps, SocketPlan } from "./socket-plan.ts";
import { AttachedTerminal, type TerminalPeer } from "./terminal-attachment.ts";
import { describeError, findIds, type Ids } from "./terminal-errors.ts";
import { Lanes } from "./terminal-lanes.ts";

type TerminalFrame = TerminalClientFrame | TerminalServerFrame;
type Payload<T extends TerminalFrame["type"]> = Extract<
  TerminalFrame,
  { readonly type: T }
>["payload"];

/**
 * Many terminals on one socket.
 *
 *     terminal.open   → terminal.opened,   then  terminal.data from 0
 *     terminal.attach → terminal.attached, then  terminal.data and .gap from its offset; again: begins again
 *     terminal.data, terminal.resize       →     nothing, or terminal.error
 *     terminal.close  → the rest of the data, terminal.exit, terminal.close
 *
 * After `terminal.exit` the id means nothing on this socket any more. When the socket goes, everything is detached and
 * nothing ends.
 */
export async function planTerminals(deps: SocketDeps, caller: Who): Promise<SocketPlan> {
  return {
    protocols: [],
    open: (handshaken) => new TerminalsSocket(deps, caller, handshaken),
    [Symbol.dispose]: () => undefined,
  };
}

class TerminalsSocket implements OpenSocket {
  readonly #deps: SocketDeps;
  readonly #caller: Who;
  readonly #socket: WebSocket;
  readonly #outbox: Outbox;
  readonly #lanes: Lanes;
  /** By session id. Frames for one that is being attached wait for it. */
  readonly #terminals = new Map<string, Promise<AttachedTerminal>>();
  /** Being opened: they have no id yet. */
  #opening = 0;

  constructor(deps: SocketDeps, caller: Who, handshaken: Handshaken) {
    const { socket } = handshaken;
    this.#deps = deps;
    this.#caller = caller;
    this.#socket = socket;
    this.#outbox = new Outbox(socket, deps.outbox);
    this.#lanes = new Lanes(this.#outbox, deps.onError);
    onMessages(handshaken, this.#outbox, (bytes, isBinary) => this.#onMessage(bytes, isBinary));
    socket.on("close", () => this.#onClose());
  }

  stop(): void {
    this.#end("shutting_down", "the server is stopping; come back in a moment");
  }

  expel(code: number, reason: string): void {
    this.#outbox.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  async #onMessage(bytes: Buffer, isBinary: boolean): Promise<void> {
    this.#outbox.sign();
    let ids: Ids = {};
    try {
      if (isBinary) throw new Fault("invalid_request", "frames are JSON text, with data in base64");
      const value = parseFrame(bytes);
      ids = findIds(value);
      await this.#serve(parseRequest(TerminalClientFrame, value));
    } catch (error) {
      this.#sayError(error, ids);
    }
  }

  async #serve(frame: TerminalClientFrame): Promise<void> {
    switch (frame.type) {
      case "terminal.open":
        return await this.#open(frame.payload);
      case "terminal.attach":
        return await this.#attach(frame.payload);
      case "terminal.data": {
        const { session_id, data_b64, input_id } = frame.payload;
        const terminal = await this.#get(session_id);
        return await terminal.type(Buffer.from(data_b64, "base64"), input_id);
      }
      case "terminal.resize": {
        const { session_id, cols, rows } = frame.payload;
        return await (await this.#get(session_id)).resize(cols, rows);
      }
      case "terminal.close": {
        const { session_id, reason } = frame.payload;
        await (await this.#get(session_id)).close(reason);
        return this.#say(frame);
      }
    }
  }

  async #open({ request_id, user_id, ...of }: Payload<"terminal.open">): Promise<void> {
    const caller = actFor(this.#caller, user_id);
    this.#checkRoom();
    const { session_id, work_dir, shell, argv } = await this.#create(caller, of);
    // It has left meanwhile: the terminal is there when it comes back.
    if (!this.#outbox.isOpen) return;
    await this.#enter({ session_id, caller, since: 0 }, () => {
      const payload = { request_id, session_id, work_dir, shell: shell ?? argv[0] ?? "" };
      this.#say({ type: "terminal.opened", payload });
    });
  }

  async #create(
    caller: Who,
    { cols, rows, ...of }: Omit<Payload<"terminal.open">, "request_id" | "user_id">,
  ): Promise<Session> {
    const size = { ...(cols ? { cols } : {}), ...(rows ? { rows } : {}) };
    this.#opening += 1;
    try {
      const { "session.create": create } = this.#deps.gateway.operations(caller);
      return await create({ kind: "terminal", ...of, ...size });
    } finally {
      this.#opening -= 1;
    }
  }

  async #attach({ request_id, session_id, since }: Payload<"terminal.attach">): Promise<void> {
    if (!this.#terminals.has(session_id)) this.#checkRoom();
    await this.#enter({ session_id, caller: this.#caller, since }, ({ offset, tail, role }) => {
      const payload = { request_id, session_id, offset, tail, role };
      this.#say({ type: "terminal.attached", payload });
    });
  }

  /** `greet` sends the first frame; output follows it. A client that is attached already begins again. */
  #enter(asked: Asked, greet: TerminalPeer["greet"]): Promise<AttachedTerminal> {
    const { session_id } = asked;
    const before = this.#terminals.get(session_id);
    const leave = () => this.#leave(session_id, entering);
    const enter = async () => {
      await before?.then((terminal) => terminal[Symbol.dispose](), ignore);
      const terminal = await this.#openTerminal(asked, { greet, over: leave });
      await terminal.start();
      return terminal;
    };
    const entering: Promise<AttachedTerminal> = enter();
    this.#terminals.set(session_id, entering);
    entering.catch(leave);
    return entering;
  }

  async #openTerminal(
    { session_id, caller, since }: Asked,
    events: Pick<TerminalPeer, "greet" | "over">,
  ): Promise<AttachedTerminal> {
    const { hosts, audit } = this.#deps.gateway;
    using stack = new DisposableStack();
    const handle = stack.use(await openVisible(hosts, caller, session_id));
    if (handle.session.mode !== "pty")
      throw new Fault(
        "invalid_request",
        `${session_id} is not a terminal; GET /v1/sessions/${session_id}/ws follows it`,
      );
    const offset = checkSince(handle, resolveSince(handle, since));
    const host = hosts.of(session_id);
    // A client that may type gets control if it is free; otherwise it watches.
    const role = isAtLeast(caller.role, "operator") ? "controller" : "viewer";
    const request = { role, takeover: false } as const;
    const opened = await openControlOrWatch({ host, caller, audit }, handle.session, request);
    stack.move();
    const { clock } = this.#deps.outbox;
    return new AttachedTerminal(
      { handle, caller, since: offset, clock, open: async () => opened },
      {
        ...events,
        lane: this.#lanes.open(),
        say: (frame) => this.#say(frame),
        hostGone: () => this.#end("host_unavailable", "the host has gone; attach again"),
        onError: this.#deps.onError,
      },
    );
  }

  /** Forgets it, unless another has its id by now. */
  #leave(sessionId: string, entering: Promise<AttachedTerminal>): void {
    if (this.#terminals.get(sessionId) === entering) this.#terminals.delete(sessionId);
    void entering.then((terminal) => terminal[Symbol.dispose](), ignore);
  }

  async #get(sessionId: string): Promise<AttachedTerminal> {
    const terminal = await this.#terminals.get(sessionId)?.catch(ignore);
    if (terminal === undefined) throw sessionNotFound(sessionId);
    return terminal;
  }

  #checkRoom(): void {
    if (!this.#outbox.isOpen) throw new Fault("shutting_down", "the server is stopping; try again");
    if (this.#terminals.size + this.#opening < limits.terminals_per_socket) return;
    throw new Fault(
      "too_many",
      `a socket has at most ${limits.terminals_per_socket} terminals; open another`,
    );
  }

  #say(frame: TerminalServerFrame): void {
    this.#outbox.sendJson(frame);
  }

  #sayError(error: unknown, ids: Ids): void {
    const { code, message } = describeError(error);
    if (code === "internal") this.#deps.onError(error);
    this.#say({ type: "terminal.error", payload: { ...ids, code, message } });
  }

  /** What runs goes on, and the client comes back. */
  #end(code: "shutting_down" | "host_unavailable", message: string): void {
    this.#say({ type: "terminal.error", payload: { code, message } });
    this.#outbox.close(closeCodes.restarting, code);
  }

  #onClose(): void {
    this.#lanes[Symbol.dispose]();
    for (const [sessionId, entering] of [...this.#terminals]) this.#leave(sessionId, entering);
  }
}

interface Asked {
  readonly session_id: Session["session_id"];
  readonly caller: Who;
  readonly since: number | "tail" | undefined;
}

/** A token speaks for its own user; an administrator's also for others, in whose name the session then is. */
function actFor(caller: Who, userId: string | undefined): Who {
  if (!isAtLeast(caller.role, "operator"))
    throw new Fault("forbidden", `opening needs the role operator; yours is ${caller.role}`);
  if (userId === undefined || userId === caller.user_id) return caller;
  if (isAtLeast(caller.role, "admin")) return { ...caller, user_id: userId };
  throw new Fault(
    "forbidden",
    `user_id: your token is ${caller.user_id ?? "local"}'s and speaks for nobody else`,
  );
}

function ignore(): undefined {
  // Who waits for it has been told.
}
