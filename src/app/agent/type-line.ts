import type { Clock } from "#base/clock.ts";
import { pause } from "#base/pause.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { SessionHost, SessionHosts } from "#session/session-host.ts";

interface TypedLine {
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
  { hosts, clock }: { readonly hosts: SessionHosts; readonly clock: Clock },
  line: TypedLine,
): Promise<void> {
  const bytes = Buffer.from(line.text);
  if (bytes.length > LINE_BYTES) throw tooLarge();
  const host = hosts.of(line.session_id);
  for (;;) {
    line.signal.throwIfAborted();
    try {
      await (bytes.length > limits.input_bytes
        ? typePieces(host, line, bytes)
        : typeAll(host, line, bytes));
      return;
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "not_controller") throw error;
    }
    await pause(clock, RETRY_MS, line.signal);
  }
}

async function typeAll(host: SessionHost, { session_id, id }: TypedLine, bytes: Buffer) {
  const data_b64 = bytes.toString("base64");
  await host.call("session.input", { session_id, data_b64, input_id: id });
}

async function typePieces(host: SessionHost, line: TypedLine, bytes: Buffer): Promise<void> {
  const { session_id, id } = line;
  const request = { session_id, viewer: id, role: "controller", takeover: false } as const;
  const attachment = await host.attach(request);
  const { generation = 0 } = attachment;
  let typed = 0;
  try {
    while (typed < bytes.length) {
      const piece = bytes.subarray(typed, typed + limits.input_bytes);
      await attachment.type({ bytes: piece, inputId: `${id}.${typed}`, generation });
      typed += piece.length;
    }
  } finally {
    // Half a line must not begin the next one.
    if (typed > 0 && typed < bytes.length)
      await attachment.type({ bytes: Buffer.from("\n"), generation }).catch(() => undefined);
    await attachment.detach().catch(() => undefined);
  }
}

function tooLarge(): Fault {
  return new Fault("payload_too_large", `a request to an agent has at most ${LINE_BYTES} bytes`, {
    details: { limit: LINE_BYTES },
  });
}
