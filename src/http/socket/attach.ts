import { InputSequence } from "#app/attach/input-sequence.ts";
import type { Caller } from "#app/caller.ts";
import { checkControllable, openSeat, type Seat } from "#app/live/seat.ts";
import { resolveSince } from "#app/read/output.ts";
import { openVisible } from "#app/visible-session.ts";
import { asFault, Fault, isUnexpected } from "#contract/fault.ts";
import { ClientFrame, type ServerFrame } from "#contract/frames.ts";
import { limits } from "#contract/limits.ts";
import type { AttachQuery } from "#contract/operations/reading.ts";
import { parseRequest } from "#contract/parse.ts";
import type { Session } from "#contract/session.ts";
import { BINARY_V1, BINARY_V2, decodeInput } from "#contract/terminal/input-frame.ts";
import { isAtLeast } from "#contract/token.ts";
import { sayFault } from "#http/fault-response.ts";
import type { SessionHandle } from "#session/session-host.ts";
import { onMessages, parseFrame } from "./messages.ts";
import { closeCodes, Outbox } from "./outbox.ts";
import { base64Encoding, binaryEncoding, framesOf, utf8Encoding } from "./output-frames.ts";
import { OutputPump, type PumpTarget } from "./output-pump.ts";
import { renewRegularly } from "./renewal.ts";
import type { Handshaken, OpenSocket, SocketDeps, SocketPlan } from "./socket-plan.ts";

const STDIN_HEADER_BYTES = 9;
const STDIN_CHANNEL = 0;
/** A host that has gone is started anew by the next who asks. */
const HOST_RETRY_MS = 500;

/** Everything that can be refused is refused here, before the upgrade; nobody has lost anything yet. */
export async function planAttach(
  deps: SocketDeps,
  caller: Caller,
  query: AttachQuery,
): Promise<SocketPlan> {
  using stack = new DisposableStack();
  const handle = stack.use(await openVisible(deps.gateway.hosts, caller, query.session_id));
  const role = query.role ?? "viewer";
  if (role === "controller") checkControl(handle.session, caller, query.takeover ?? false);
  if (handle.session.viewers >= limits.viewers_per_session)
    throw new Fault("too_many", "this session has as many viewers as it may");
  const since = checkSince(handle, resolveSince(handle, query.since));
  const owned = stack.move();
  return {
    protocols: [BINARY_V2, BINARY_V1],
    open: (handshaken) => {
      const attached = new AttachedSocket(deps, { caller, handle, query, since, ...handshaken });
      void attached.start().catch((error: unknown) => attached.fail(error));
      return attached;
    },
    [Symbol.dispose]: () => owned.dispose(),
  };
}

function checkControl(session: Session, caller: Caller, takeover: boolean): void {
  const { controller } = session;
  if (!isAtLeast(caller.role, "operator"))
    throw new Fault("forbidden", `control needs the role operator; your token has ${caller.role}`);
  checkControllable(session);
  if (controller === null || takeover) return;
  throw new Fault(
    "not_controller",
    `${controller.holder} controls this session; takeover=1 takes it`,
    {
      details: { holder: controller.holder, generation: controller.generation },
    },
  );
}

/** Outside of the log it is refused now, with a status, and not by a frame later. */
export function checkSince({ output, tail }: SessionHandle, since: number): number {
  if (since > tail) output.read(since, { limit: 1 });
  return since;
}

interface Attaching extends Handshaken {
  readonly caller: Caller;
  readonly handle: SessionHandle;
  readonly query: AttachQuery;
  readonly since: number;
}

interface ToldSize {
  readonly cols: number | null;
  readonly rows: number | null;
  readonly serial: number;
}

/** Sizes that a session was given before it was painted are not told again, and none that came later is missed. */
function findPainted(
  { sizes, eventsTail }: SessionHandle,
  painted: { readonly cols: number; readonly rows: number; readonly offset: number },
  { serial }: ToldSize,
): number {
  let found = serial;
  let next = sizes.after(serial, eventsTail);
  while (next !== undefined && next.offset <= painted.offset) {
    if (next.cols === painted.cols && next.rows === painted.rows) found = next.serial;
    next = sizes.after(next.serial, eventsTail);
  }
  return found;
}

/** One client at one session. */
class AttachedSocket implements OpenSocket {
  readonly #deps: SocketDeps;
  readonly #attaching: Attaching;
  readonly #outbox: Outbox;
  readonly #owned = new DisposableStack();
  readonly #seated = Promise.withResolvers<Seat>();
  readonly #sequence = new InputSequence();
  #seat: Seat | undefined;
  #controller: Session["controller"] = null;
  #hasEnded = false;
  #underWay = 0;

  constructor(deps: SocketDeps, attaching: Attaching) {
    this.#deps = deps;
    this.#attaching = attaching;
    const { socket } = attaching;
    this.#outbox = new Outbox(socket, deps.outbox);
    onMessages(attaching, this.#outbox, (bytes, isBinary) => this.#onMessage(bytes, isBinary));
    socket.on("close", () => this.#onClose());
  }

  async start(): Promise<void> {
    const { handle, query, since, caller } = this.#attaching;
    const { hosts, audit } = this.#deps.gateway;
    const host = hosts.of(query.session_id);
    const seat = await takeSeat({ host, caller, audit }, handle.session, query);
    this.#seat = seat;
    if (!this.#outbox.isOpen) {
      // It has left while we asked.
      await seat[Symbol.asyncDispose]();
      return;
    }
    this.#seated.resolve(seat);
    this.#controller = handle.session.controller;
    const { session } = handle;
    const resize = handle.sizes.at(since, handle.eventsTail);
    const { cols, rows } = resize ?? session;
    this.#say({
      type: "connected",
      session_id: session.session_id,
      kind: session.kind,
      mode: session.mode,
      role: seat.role,
      generation: seat.generation ?? null,
      offset: since,
      tail: handle.tail,
      cols,
      rows,
      state: session.state,
    });
    this.#owned.use(handle.on(() => this.#onSession(handle.session)));
    this.#owned.use(renewRegularly(this.#deps.outbox.clock, () => seat.renew()));
    const told = { cols, rows, serial: resize?.serial ?? 0 };
    const from = query.paint === true ? await this.#paint(since, told) : { since };
    // It may have left meanwhile, and what it held is given back.
    if (!this.#outbox.isOpen) return;
    this.#follow(from);
    this.#onSession(handle.session);
  }

  fail(error: unknown): void {
    const { code, message } = sayFault(error);
    if (isUnexpected(error)) this.#deps.onError(error);
    this.#say({ type: "error", code, message });
    const isGone = code === "host_unavailable" || code === "shutting_down";
    this.#outbox.close(isGone ? closeCodes.restarting : closeCodes.too_slow, code);
  }

  /** The gateway ends; the session goes on and the client comes back. */
  stop(reason: string, retryAfterMs: number): void {
    this.#say({ type: "closing", reason, retry_after_ms: retryAfterMs });
    this.#outbox.close(closeCodes.restarting, reason);
  }

  expel(code: number, reason: string): void {
    this.#outbox.close(code, reason);
  }

  terminate(): void {
    this.#attaching.socket.terminate();
  }

  get #isBinary(): boolean {
    return this.#attaching.protocol !== "";
  }

  #follow(from: Pick<PumpTarget, "since" | "toldSize">): void {
    const { handle, query } = this.#attaching;
    const text = query.encoding === "base64" ? base64Encoding : utf8Encoding;
    const frames = framesOf(handle, this.#isBinary ? binaryEncoding : text);
    const pump = new OutputPump(
      { handle, frames, outbox: this.#outbox, ...from },
      {
        gap: (range) => this.#say({ type: "gap", ...range }),
        resized: (size) => this.#say({ type: "resized", ...size }),
        ended: (session, tail) => this.#ended(session, tail),
        hostGone: () => this.stop("host_unavailable", HOST_RETRY_MS),
        failed: (error) => this.fail(error),
      },
    );
    this.#owned.use(pump);
    pump.pump();
  }

  /** The screen instead of history, at the size that it has by now; where output follows it. */
  async #paint(since: number, told: ToldSize): Promise<Pick<PumpTarget, "since" | "toldSize">> {
    const { handle } = this.#attaching;
    try {
      const { state, offset, cols, rows } = await this.#deps.gateway.screens.state(handle);
      if (cols !== told.cols || rows !== told.rows) this.#say({ type: "resized", cols, rows });
      this.#say({ type: "screen", state, offset });
      return { since: offset, toldSize: findPainted(handle, { cols, rows, offset }, told) };
    } catch (error) {
      const { code, message } = sayFault(error);
      if (code === "internal") this.#deps.onError(error);
      this.#say({ type: "error", code, message });
      return { since };
    }
  }

  #ended({ state }: Session, tail: number): void {
    const isExit = state.kind === "exited";
    this.#say({
      type: "exit",
      exit_code: isExit ? state.exit_code : null,
      signal: isExit ? state.signal : null,
      reason: isExit ? state.reason : "host_lost",
      tail: isExit ? state.tail : tail,
    });
    this.#hasEnded = true;
    this.#leave();
  }

  /** Who asked for something, the end perhaps, hears first that it was done. */
  #leave(): void {
    if (this.#hasEnded && this.#underWay === 0)
      this.#outbox.close(closeCodes.done, "the session has ended");
  }

  #onSession(session: Session): void {
    const { controller } = session;
    const isSame =
      controller?.generation === this.#controller?.generation &&
      controller?.holder === this.#controller?.holder;
    if (!isSame) {
      const generation = controller?.generation ?? this.#controller?.generation ?? 0;
      this.#controller = controller;
      this.#say({ type: "control", holder: controller?.holder ?? null, generation });
    }
    if (this.#seat?.isTaken(session) === true)
      this.#outbox.close(closeCodes.taken_over, "somebody else has taken control");
  }

  async #onMessage(bytes: Buffer, isBinary: boolean): Promise<void> {
    this.#outbox.sign();
    // Nothing can be done any more, and the end does not wait for a client that goes on asking.
    if (this.#hasEnded || !this.#outbox.isOpen) return;
    this.#underWay += 1;
    let id: string | undefined;
    try {
      if (isBinary && this.#attaching.protocol === BINARY_V2) await this.#typeNumbered(bytes);
      else if (isBinary) {
        const typed = this.#parseBinary(bytes);
        await (this.#seat ?? (await this.#seated.promise)).type(typed, undefined);
      } else {
        const value = parseFrame(bytes);
        id = findId(value);
        await this.#answer(parseRequest(ClientFrame, value), id);
      }
    } catch (error) {
      const { code, message } = sayFault(error);
      if (code === "internal") this.#deps.onError(error);
      this.#say({ type: "error", ...(id === undefined ? {} : { id }), code, message });
    }
    this.#underWay -= 1;
    this.#leave();
  }

  async #typeNumbered(frame: Buffer): Promise<void> {
    const input = decodeInput(frame);
    if (input === undefined)
      throw new Fault(
        "invalid_request",
        "a binary frame is 1, a sequence of 4 bytes, the length of the id, the id, the input",
      );
    const { id, sequence, bytes } = input;
    try {
      this.#sequence.take(sequence);
    } catch (error) {
      const { code, message } = sayFault(error);
      this.#say({ type: "error", id, sequence, code, message });
      this.#outbox.close(closeCodes.protocol_error, message);
      return;
    }
    try {
      const seat = this.#seat ?? (await this.#seated.promise);
      await seat.type(bytes, id === "" ? undefined : id);
      this.#say({ type: "ack", id, sequence });
    } catch (error) {
      this.#sequence.refused(sequence);
      const { code, message } = sayFault(error);
      if (code === "internal") this.#deps.onError(error);
      this.#say({ type: "error", id, sequence, code, message });
    }
  }

  async #answer(frame: ClientFrame, id: string | undefined): Promise<void> {
    // In order: whoever waits here goes on in the order in which it came.
    await this.#serve(frame, this.#seat ?? (await this.#seated.promise));
    if (frame.type === "ping") this.#say({ type: "pong", ...(id === undefined ? {} : { id }) });
    else if (id !== undefined) this.#say({ type: "ack", id });
  }

  async #serve(frame: ClientFrame, seat: Seat): Promise<void> {
    switch (frame.type) {
      case "stdin":
        return await seat.type(Buffer.from(frame.data, frame.encoding ?? "utf8"), frame.id);
      case "eof":
        return await seat.eof(frame.id);
      case "resize":
        return await seat.resize(frame.cols, frame.rows);
      case "signal":
        return await seat.signal(frame.signal);
      case "control":
        return await this.#changeControl(frame.action, seat);
      case "close":
        checkOperator(this.#attaching.caller);
        return await seat.close(frame.reason);
      case "ping":
        return;
    }
  }

  async #changeControl(action: "take" | "release", seat: Seat): Promise<void> {
    checkOperator(this.#attaching.caller);
    if (action === "take") await seat.take();
    else await seat.release();
  }

  /** `0 · offset (ignored) · bytes`: what was typed, as it is. */
  #parseBinary(bytes: Buffer): Buffer {
    if (!this.#isBinary)
      throw new Fault("invalid_request", `binary frames need the sub-protocol ${BINARY_V2}`);
    if (bytes.length <= STDIN_HEADER_BYTES || bytes[0] !== STDIN_CHANNEL)
      throw new Fault(
        "invalid_request",
        "a binary frame is channel 0, an offset of 8 bytes, then what is typed",
      );
    return bytes.subarray(STDIN_HEADER_BYTES);
  }

  #say(frame: ServerFrame): void {
    this.#outbox.sendJson(frame);
  }

  #onClose(): void {
    this.#owned.dispose();
    this.#attaching.handle[Symbol.dispose]();
    void this.#seat?.[Symbol.asyncDispose]();
  }
}

/** After the upgrade: a failed handshake has taken control from nobody. Who loses a race to another watches. */
export async function takeSeat(
  deps: Parameters<typeof openSeat>[0],
  session: Session,
  { role = "viewer", takeover = false }: Pick<AttachQuery, "role" | "takeover">,
): Promise<Seat> {
  if (role === "viewer") return await openSeat(deps, session, { role, takeover: false });
  try {
    return await openSeat(deps, session, { role, takeover });
  } catch (error) {
    const { code } = asFault(error);
    if (!["not_controller", "already_exited", "unsupported"].includes(code)) throw error;
    return await openSeat(deps, session, { role: "viewer", takeover: false });
  }
}

function checkOperator({ role }: Caller): void {
  if (isAtLeast(role, "operator")) return;
  throw new Fault("forbidden", `this needs the role operator; your token has ${role}`);
}

function findId(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !("id" in value)) return undefined;
  return typeof value.id === "string" && value.id.length <= limits.input_id_chars
    ? value.id
    : undefined;
}
