import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { owned } from "./owned.ts";
import { openTempDir } from "./temp-dir.ts";
import { reinsPath, type TempHost } from "./temp-host.ts";
import { readWholeLog } from "./whole-log.ts";

export interface KilledClientsOptions {
  /** Of numbered lines of 8 bytes, printed over a while. */
  readonly bytes: number;
  readonly clients: number;
  /** A client lives at most this long while the child prints. */
  readonly life_ms?: number;
}

export interface KilledClients {
  readonly kills: number;
  /** Of them, how many came after the client had written something. */
  readonly kills_midway: number;
  readonly tail: number;
  /** What did not fit together. */
  readonly wrong: readonly string[];
}

/** Raw bytes as they come, or one frame a line with its own offset. */
type Form = "raw" | "frames";

interface Piece {
  readonly from: number;
  readonly bytes: Buffer;
}

const LINE_BYTES = 8;
const BLOCK_LINES = 125_000;
/** Between blocks of 1 MB, so that there is time for many deaths. */
const PAUSE_SECONDS = 0.2;
const LIFE_MS = 800;

/**
 * `reins logs -f` in processes of their own, killed at any moment and started again from the byte behind the last
 * one that they wrote. What all lives of a client wrote, put together by offset, must be the log.
 */
export async function followWithKills(
  host: TempHost,
  { bytes, clients, life_ms = LIFE_MS }: KilledClientsOptions,
): Promise<KilledClients> {
  await using dir = openTempDir();
  const lines = Math.floor(bytes / LINE_BYTES);
  const argv = ["bash", "--norc", "-c", printLines(lines)];
  const { session_id } = await host.create({ kind: "terminal", argv });
  let isOver = false;
  void host.ends.wait(session_id, "final").then(() => {
    isOver = true;
  });
  const found = await Promise.all(
    Array.from({ length: clients }, (_, serial) =>
      follow(host, {
        session_id,
        form: serial % 2 === 0 ? "raw" : "frames",
        file: join(dir.path, String(serial)),
        life_ms,
        isOver: () => isOver,
      }),
    ),
  );
  const log = await readWholeLog(host, session_id);
  const wrong = found.flatMap(({ pieces }, serial) =>
    checkPieces(pieces, log).map((problem) => `client ${serial}: ${problem}`),
  );
  if (!log.isDense || log.gaps.length > 0) wrong.push("the log itself has a gap");
  // A terminal sends a carriage return before each line feed.
  if (log.tail !== lines * (LINE_BYTES + 1)) wrong.push(`the log ends at ${log.tail}`);
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  return {
    kills: sum(found.map(({ kills }) => kills)),
    kills_midway: sum(found.map(({ midway }) => midway)),
    tail: log.tail,
    wrong,
  };
}

interface Follow {
  readonly session_id: string;
  readonly form: Form;
  readonly file: string;
  readonly life_ms: number;
  readonly isOver: () => boolean;
}

interface Lives {
  readonly pieces: readonly Piece[];
  readonly kills: number;
  readonly midway: number;
}

/** All lives of one client; the last one, when nothing more will come, is left in peace. */
async function follow(host: TempHost, options: Follow): Promise<Lives> {
  const { form, file, life_ms } = options;
  const pieces: Piece[] = [];
  let midway = 0;
  for (let [cursor, kills] = [0, 0]; ; kills += 1) {
    const isLast = options.isOver();
    const life = startClient(host, options, cursor);
    const exit = once(life.child, "exit");
    await (isLast ? exit : Promise.race([sleep(Math.random() * life_ms), exit]));
    await life[Symbol.asyncDispose]();
    if (life.child.exitCode) throw new Error(`a client ended by itself: ${life.stderr()}`);
    const written = readPieces(readFileSync(file), form, cursor);
    pieces.push(...written);
    const last = pieces.at(-1);
    cursor = last === undefined ? 0 : last.from + last.bytes.length;
    if (isLast) return { pieces, kills, midway };
    if (written.length > 0) midway += 1;
  }
}

function printLines(lines: number): string {
  const print = `seq -f %07.0f $from $((from + ${BLOCK_LINES - 1} < ${lines} ? from + ${BLOCK_LINES - 1} : ${lines}))`;
  return `for ((from = 1; from <= ${lines}; from += ${BLOCK_LINES})); do ${print}; sleep ${PAUSE_SECONDS}; done`;
}

function startClient(
  host: TempHost,
  { session_id, form, file }: Follow,
  cursor: number,
): AsyncDisposable & { readonly child: ChildProcess; readonly stderr: () => string } {
  const fd = openSync(file, "w");
  const flags = form === "frames" ? ["--json"] : [];
  const child = spawn(
    process.execPath,
    [reinsPath, "logs", "-f", "--since", String(cursor), ...flags, session_id],
    { env: { ...process.env, REINS_HOME: host.dir.path }, stdio: ["ignore", fd, "pipe"] },
  );
  closeSync(fd);
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const resource = owned(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  return { child, stderr: () => stderr, ...resource };
}

/** What one life wrote. Of a frame that death cut short nothing counts. */
function readPieces(written: Buffer, form: Form, cursor: number): Piece[] {
  if (form === "raw") return written.length === 0 ? [] : [{ from: cursor, bytes: written }];
  const text = written.toString("utf8");
  const whole = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  return whole.flatMap((line) => {
    if (line === "") return [];
    const frame = JSON.parse(line);
    if (frame.type !== "stdout") return [];
    return [{ from: frame.offset, bytes: Buffer.from(frame.data, frame.encoding) }];
  });
}

function checkPieces(
  pieces: readonly Piece[],
  log: { readonly tail: number; readonly sha256: string },
): string[] {
  const hash = createHash("sha256");
  const wrong: string[] = [];
  let next = 0;
  for (const { from, bytes } of pieces) {
    if (from > next) wrong.push(`a gap from ${next} to ${from}`);
    if (from < next) wrong.push(`an overlap from ${from} to ${next}`);
    next = from + bytes.length;
    hash.update(bytes);
  }
  if (next !== log.tail) wrong.push(`it ends at ${next}, the log at ${log.tail}`);
  if (hash.digest("hex") !== log.sha256) wrong.push("its bytes are not those of the log");
  return wrong;
}
