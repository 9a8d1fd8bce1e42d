import { checkControllable, openControlOrWatch } from "#app/attach/attached-control.ts";
import { Attachment, type AttachmentPeer } from "#app/attach/attachment.ts";
import { base64Encoding, binaryEncoding, utf8Encoding } from "#app/attach/output-frames.ts";
import type { Who } from "#app/caller.ts";
import { resolveSince } from "#app/read/output.ts";
import { openVisible } from "#app/visible-session.ts";
import { Fault, isUnexpected } from "#contract/fault.ts";
import { ClientFrame } from "#contract/frames.ts";
import { limits } from "#contract/limits.ts";
import type { AttachQuery } from "#contract/operations/reading.ts";
import { parseRequest } from "#contract/parse.ts";
import type { Session } from "#contract/session.ts";
import { closeCodes } from "#contract/terminal/close-codes.ts";
import {
  BINARY_V1,
  BINARY_V2,
  BINARY_V3,
  decodeAttachmentInput,
  decodeInput,
  findAttachmentName,
} from "#contract/terminal/input-frame.ts";
import { isAtLeast } from "#contract/token.ts";
import { sayFault } from "#http/fault-response.ts";
import type { SessionHandle } from "#session/session-host.ts";
import { onMessages, parseFrame } from "./messages.ts";
import { Outbox } from "./outbox.ts";
import type { Handshaken, OpenSocket, SocketDeps, SocketPlan } from "./socket-plan.ts";

const V1_HEADER_BYTES = 9;
const V1_STDIN_CHANNEL = 0;

export interface Offered {
  /** The sub-protocols that the client offers. */
  readonly offered: readonly string[];
}

/** Everything that can be refused is refused here, before the upgrade, when no other client has lost anything. */
export async function planAttach(
  deps: SocketDeps,
  caller: Who,
  { offered, ...query }: AttachQuery & Offered,
): Promise<SocketPlan> {
  using stack = new DisposableStack();
  const handle = stack.use(await openVisible(deps.gateway.hosts, caller, query.session_id));
  const role = query.role ?? "viewer";
  const host = deps.gateway.hosts.of(query.session_id);
  const isNumbered = offered.includes(BINARY_V3) && (await host.knows("numbered"));
  const name = isNumbered ? findAttachmentName(offered) : undefined;
  // The host knows whether control is held by an earlier connection of the same attachment.
  const mayTake = query.takeover === true || name !== undefined;
  if (role === "controller") checkControl(handle.session, caller, mayTake);
  if (handle.session.viewers >= limits.viewers_per_session)
    throw new Fault("too_many", "this session has as many viewers as it may");
  const since = checkSince(handle, resolveSince(handle, query.since));
  const owned = stack.move();
  return {
    protocols: name === undefined ? [BINARY_V2, BINARY_V1] : [BINARY_V3, BINARY_V2, BINARY_V1],
    open: (handshaken) => {
      const socket = new AttachedSocket(deps, {
        caller,
        handle,
        query,
        name,
        since,
        ...handshaken,
      });
      socket.start();
      return socket;
    },
    [Symbol.dispose]: () => owned.dispose(),
  };
}

function checkControl(session: Session, caller: Who, takeover: boolean): void {
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

/** Throws `offset_out_of_range` now, with a status, and not by a frame later. */
export function checkSince({ output, tail }: SessionHandle, since: number): number {
  if (since > tail) output.read(since, { limit: 1 });
  return since;
}

interface Attaching extends Handshaken {
  readonly caller: Who;
  readonly handle: SessionHandle;
  readonly query: AttachQuery;
  /** The attachment's name, if its inputs are numbered. */
  readonly name: string | undefined;
  readonly since: number;
}

/** `/v1/sessions/{id}/ws`: an attachment as JSON and binary frames. */
class AttachedSocket implements OpenSocket {
  readonly #attaching: Attaching;
  readonly #outbox: Outbox;
  readonly #attachment: Attachment;

  constructor(deps: SocketDeps, attaching: Attaching) {
    const { socket, query, caller, handle, since, protocol } = attaching;
    const name = protocol === BINARY_V3 ? attaching.name : undefined;
    const { gateway } = deps;
    this.#attaching = attaching;
    this.#outbox = new Outbox(socket, deps.outbox);
    this.#attachment = new Attachment(
      {
        ...{ caller, handle, since, clock: deps.outbox.clock },
        paint: query.paint === true ? gateway.screens : undefined,
        open: async () => {
          const { role = "viewer", takeover = false } = query;
          const host = gateway.hosts.of(query.session_id);
          const { audit } = gateway;
          return await openControlOrWatch({ host, caller, audit }, handle.session, {
            ...{ role, takeover, name },
          });
        },
      },
      createPeer(deps, attaching, this.#outbox),
    );
    onMessages(attaching, this.#outbox, (bytes, isBinary) => this.#onMessage(bytes, isBinary));
    socket.on("close", () => this.#attachment[Symbol.dispose]());
  }

  start(): void {
    void this.#attachment.start();
  }

  /** The gateway ends; the session goes on and the client comes back. */
  stop(reason: string, retryAfterMs: number): void {
    this.#outbox.sendJson({ type: "closing", reason, retry_after_ms: retryAfterMs });
    this.#outbox.close(closeCodes.restarting, reason);
  }

  expel(code: number, reason: string): void {
    this.#outbox.close(code, reason);
  }

  terminate(): void {
    this.#attaching.socket.terminate();
  }

  async #onMessage(bytes: Buffer, isBinary: boolean): Promise<void> {
    this.#outbox.sign();
    let id: string | undefined;
    try {
      if (isBinary) {
        await this.#onBinary(bytes);
        return;
      }
      const value = parseFrame(bytes);
      id = findId(value);
      await this.#attachment.receive(parseRequest(ClientFrame, value));
    } catch (error) {
      this.#attachment.refuse(error, { id });
    }
  }

  async #onBinary(bytes: Buffer): Promise<void> {
    const { protocol } = this.#attaching;
    if (protocol === BINARY_V1) {
      await this.#attachment.write(parseV1(bytes), undefined);
      return;
    }
    if (protocol === BINARY_V3) {
      const input = decodeAttachmentInput(bytes);
      if (input === undefined) throw wrongFrame("the length of the id in 2 bytes");
      await this.#attachment.typeNumbered(input);
      return;
    }
    if (protocol !== BINARY_V2)
      throw new Fault("invalid_request", `binary frames need the sub-protocol ${BINARY_V2}`);
    const input = decodeInput(bytes);
    if (input === undefined) throw wrongFrame("the length of the id");
    await this.#attachment.type(input);
  }
}

function createPeer(
  { onError }: SocketDeps,
  { protocol, query }: Attaching,
  outbox: Outbox,
): AttachmentPeer {
  const text = query.encoding === "base64" ? base64Encoding : utf8Encoding;
  return {
    encoding: protocol === "" ? text : binaryEncoding,
    outbox,
    say: (frame) => outbox.sendJson(frame),
    close: (code, reason) => outbox.close(code, reason),
    describe: (error) => {
      if (isUnexpected(error)) onError(error);
      return sayFault(error);
    },
  };
}

function wrongFrame(length: string): Fault {
  const sentence = `a binary frame is 1, a sequence of 4 bytes, ${length}, the id, the input`;
  return new Fault("invalid_request", sentence);
}

/** `0 · offset (ignored) · bytes`. */
function parseV1(frame: Buffer): Buffer {
  if (frame.length > V1_HEADER_BYTES && frame[0] === V1_STDIN_CHANNEL)
    return frame.subarray(V1_HEADER_BYTES);
  throw new Fault(
    "invalid_request",
    "a binary frame is channel 0, an offset of 8 bytes, then the input",
  );
}

function findId(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !("id" in value)) return undefined;
  return typeof value.id === "string" && value.id.length <= limits.input_id_chars
    ? value.id
    : undefined;
}
