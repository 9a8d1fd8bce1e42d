import type { Session } from "#contract/session.ts";
import type { Expected, SampleText } from "./sample-text.ts";
import type { SessionRequest, TempHost } from "./temp-host.ts";
import { readWholeLog } from "./whole-log.ts";

export type Wiring = "terminal" | "command";

export interface BurstOptions {
  readonly kind: Wiring;
  readonly runs: number;
  /** Printed whole by `cat`, which then exits at once. */
  readonly text: SampleText;
  /** How many at a time. */
  readonly width?: number;
}

/** What each run that went wrong had instead. */
export type Wrong = readonly string[];

/** A burst and at once the exit, again and again: whether the log has every byte, and had it when the exit was told. */
export async function runBursts(host: TempHost, options: BurstOptions): Promise<Wrong> {
  const { kind, text } = options;
  const expected = kind === "terminal" ? text.terminal : text.pipe;
  return await runMany(options.runs, options.width ?? 2, async () => {
    const ended = await runToExit(host, { kind, argv: ["cat", text.path] });
    const problem =
      describeEnd(ended, 0, expected.bytes) ?? (await checkLog(host, ended, expected));
    await host.client.call("session.close", { session_id: ended.session_id, purge: true });
    return problem;
  });
}

/** `printf x; exit 3`: whether the byte and the code are right. */
export async function runSmallExits(
  host: TempHost,
  { kind, runs, width = 4 }: Omit<BurstOptions, "text">,
): Promise<Wrong> {
  return await runMany(runs, width, async () => {
    const ended = await runToExit(host, { kind, argv: ["/bin/sh", "-c", "printf x; exit 3"] });
    const problem = describeEnd(ended, 3, 1) ?? (await checkByte(host, ended));
    await host.client.call("session.close", { session_id: ended.session_id, purge: true });
    return problem;
  });
}

export async function runToExit(host: TempHost, request: SessionRequest): Promise<Session> {
  const { session_id } = await host.create(request);
  return await host.ends.wait(session_id, "exit");
}

async function runMany(
  runs: number,
  width: number,
  run: () => Promise<string | undefined>,
): Promise<Wrong> {
  const wrong: string[] = [];
  let left = runs;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const problem = await run();
      if (problem !== undefined) wrong.push(problem);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return wrong;
}

function describeEnd({ state, session_id }: Session, code: number, tail: number) {
  const isRight = state.kind === "exited" && state.exit_code === code && state.tail === tail;
  return isRight ? undefined : `${session_id}: ${JSON.stringify(state)}, not ${code} at ${tail}`;
}

async function checkLog(host: TempHost, { session_id }: Session, expected: Expected) {
  const log = await readWholeLog(host, session_id);
  return log.isDense && log.gaps.length === 0 && log.sha256 === expected.sha256
    ? undefined
    : `${session_id}: the log has other bytes (${log.tail} of ${expected.bytes})`;
}

async function checkByte(host: TempHost, { session_id }: Session) {
  const pieces: Uint8Array[] = [];
  await readWholeLog(host, session_id, (bytes) => pieces.push(bytes));
  const text = Buffer.concat(pieces).toString("latin1");
  return text === "x" ? undefined : `${session_id}: the log has ${JSON.stringify(text)}`;
}
