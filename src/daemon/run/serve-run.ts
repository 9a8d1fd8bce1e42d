import type { Readable } from "node:stream";
import { asFault, type FaultBody, toFaultBody } from "#contract/fault.ts";
import { faults } from "#contract/faults.ts";
import { readLines } from "#daemon/read-lines.ts";
import { openRunListener, type RunListenerOptions } from "./run-listener.ts";

interface ServeRunOptions extends RunListenerOptions {
  /** The session, or `-`: its id is a line of stdin. */
  readonly only: string;
  readonly stdin: Readable;
  readonly say: (line: ServeRunLine) => void;
  /** Resolves when the process is told to stop. */
  readonly stopped: Promise<void>;
}

/**
 * What whoever started us reads on stdout: `listening`, then, when the session is known and its record is written,
 * `serving`; or why not.
 */
type ServeRunLine =
  | { readonly listening: string; readonly pid: number }
  | { readonly serving: string }
  | { readonly error: FaultBody };

/** `reins serve --only`: until the run has ended for good. */
export async function serveRun(options: ServeRunOptions): Promise<number> {
  const { only, stdin, say, stopped } = options;
  try {
    await using listener = await openRunListener(options);
    say({ listening: listener.address, pid: process.pid });
    const sessionId = only === "-" ? await Promise.race([findLine(stdin), stopped]) : only;
    // Whoever wanted to start the run has gone, or could not.
    if (sessionId === undefined) return 0;
    await listener.serve(sessionId);
    say({ serving: sessionId });
    await Promise.race([listener.ended, stopped]);
    return 0;
  } catch (error) {
    const fault = asFault(error);
    say({ error: toFaultBody(fault) });
    return faults[fault.code].exit;
  }
}

async function findLine(stdin: Readable): Promise<string | undefined> {
  for await (const line of readLines(stdin)) return line.trim();
  return undefined;
}
