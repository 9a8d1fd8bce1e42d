import type { Clock } from "#base/clock.ts";
import { pause } from "#base/pause.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { HostClient } from "#host/socket/client.ts";
import type { HostLink } from "#session/host-link.ts";

export interface TypedLine {
  readonly id: string;
  readonly session_id: string;
  /** With its newline. */
  readonly text: string;
  readonly signal: AbortSignal;
}

/** What a door takes, a line of it may be. */
const LINE_BYTES = limits.body_bytes;
const RETRY_MS = 25;

/**
 * Types a line into a worker, whole. The host takes a piece at a time, and another gateway may type as well: a line
 * of several pieces is typed under control, and who finds control taken tries again.
 */
export async function typeLine(
  { link, clock }: { readonly link: HostLink; readonly clock: Clock },
  line: TypedLine,
): Promise<void> {
  const bytes = Buffer.from(line.text);
  if (bytes.length > LINE_BYTES) throw tooLarge();
  for (;;) {
    line.signal.throwIfAborted();
    const host = await link.connect();
    try {
      await (bytes.length > limits.input_bytes
        ? typePieces(host, line, bytes)
        : type(host, line, { bytes, input_id: line.id }));
      return;
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "not_controller") throw error;
    }
    await pause(clock, RETRY_MS, line.signal);
  }
}

interface Piece {
  readonly bytes: Uint8Array;
  readonly input_id?: string;
  readonly generation?: number;
}

async function type(
  host: HostClient,
  { session_id }: TypedLine,
  { bytes, ...rest }: Piece,
): Promise<void> {
  const data_b64 = Buffer.from(bytes).toString("base64");
  await host.call("session.input", { session_id, data_b64, ...rest });
}

async function typePieces(host: HostClient, line: TypedLine, bytes: Buffer): Promise<void> {
  const { attachment, generation } = await host.call("session.attach", {
    session_id: line.session_id,
    viewer: line.id,
    role: "controller",
  });
  const held = { generation: generation ?? 0 };
  let typed = 0;
  try {
    while (typed < bytes.length) {
      const piece = bytes.subarray(typed, typed + limits.input_bytes);
      await type(host, line, { bytes: piece, input_id: `${line.id}.${typed}`, ...held });
      typed += piece.length;
    }
  } finally {
    // Half a line must not begin the next one.
    if (typed > 0 && typed < bytes.length)
      await type(host, line, { bytes: Buffer.from("\n"), ...held }).catch(() => undefined);
    await host.call("session.detach", { attachment }).catch(() => undefined);
  }
}

function tooLarge(): Fault {
  return new Fault("payload_too_large", `a request to an agent has at most ${LINE_BYTES} bytes`, {
    details: { limit: LINE_BYTES },
  });
}
