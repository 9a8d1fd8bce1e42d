import { join } from "node:path";
import { writeSampleText } from "#bench/lib/sample-text.ts";
import { openTempDir } from "#bench/lib/temp-dir.ts";
import { limits } from "#contract/limits.ts";
import type { TempGateway } from "./temp-gateway.ts";

export interface PrintedSession extends AsyncDisposable {
  readonly sessionId: string;
  /** A file of as many bytes. */
  readonly path: string;
  readonly bytes: number;
}

/** Some of a session's retention is room for the next segment. */
const SPARE_BYTES = 8 * 1024 * 1024;

/** A terminal that has printed as much as is kept, and has ended; and as many bytes in a file. */
export async function openPrintedSession(gateway: TempGateway): Promise<PrintedSession> {
  await using stack = new AsyncDisposableStack();
  const dir = stack.use(openTempDir());
  const size = limits.output_retained_bytes - SPARE_BYTES;
  const text = writeSampleText(join(dir.path, "text"), size);
  // No carriage return comes between, so that the file and the log are the same.
  const argv = ["/bin/sh", "-c", `stty -onlcr; exec cat ${text.path}`];
  const sessionId = await gateway.create({ kind: "terminal", argv });
  const { tail } = await gateway.host.ends.wait(sessionId, "final");
  if (tail !== text.pipe.bytes) throw new Error(`the log ends at ${tail}`);
  const owned = stack.move();
  return {
    sessionId,
    path: text.path,
    bytes: tail,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
