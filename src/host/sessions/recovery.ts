import { readdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "#base/clock.ts";
import type { Logger } from "#base/logger.ts";
import { channels } from "#contract/channels.ts";
import { isCrashed, isLive } from "#contract/ended.ts";
import type { SessionEvent } from "#contract/events.ts";
import { SessionId } from "#contract/ids.ts";
import { catchUp } from "#host/session/agent-progress.ts";
import { findOutputLine, OUTPUT_LINE_BYTES } from "#host/session/output-line.ts";
import { readRecord, type SessionRecord, writeRecord } from "#host/session/session-record.ts";
import { transition } from "#host/session/transition.ts";
import { type LogFiles, openLogFiles } from "#log/log-files.ts";
import { endOf } from "#log/log-source.ts";
import { openLogWriter } from "#log/log-writer.ts";
import type { Leftover } from "#proc/child.ts";

export interface RecoveryDeps {
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Recovered {
  readonly records: readonly SessionRecord[];
  /** What sessions of the host before us may have left running. */
  readonly leftovers: readonly Leftover[];
  /** Sessions whose record could not be read: left as they are, for people to look at. */
  readonly unreadable: readonly string[];
}

/** Reads what earlier hosts left. Nothing stays "running": what ran when its host died is lost, and says so. */
export function recoverSessions(
  folder: string,
  deps: RecoveryDeps,
  adopted: ReadonlySet<string> = new Set(),
): Recovered {
  const { log } = deps;
  const records: SessionRecord[] = [];
  const leftovers: Leftover[] = [];
  const unreadable: string[] = [];
  for (const name of readdirSync(folder)) {
    if (!SessionId.safeParse(name).success || adopted.has(name)) continue;
    const dir = join(folder, name);
    const read = readRecord(dir);
    if (!read.ok) {
      if (removeIfEmpty(dir)) continue;
      log.warn("a session's record cannot be read", { session_id: name, problem: read.problem });
      unreadable.push(name);
      continue;
    }
    const { record } = read;
    const hasEnd = isLive(record) ? false : findEnd(dir, record, deps);
    if (isSettled(record) && hasEnd) {
      records.push(completeRecord(dir, record, deps));
      continue;
    }
    leftovers.push(leftoverOf(record));
    records.push(settle(dir, { record, hasEnd }, deps));
  }
  return { records, leftovers, unreadable };
}

/** How to find what a session that another host started has left running. */
export function leftoverOf({ session_id, process, limit_mark, boot_id }: SessionRecord): Leftover {
  return {
    session_id,
    identity: process ?? undefined,
    limit_mark: limit_mark ?? undefined,
    boot_id,
  };
}

function isSettled({ state }: SessionRecord): boolean {
  return !isLive({ state }) && (state.kind !== "exited" || state.final);
}

interface Left {
  readonly record: SessionRecord;
  /** Its events say that it ended. */
  readonly hasEnd: boolean;
}

/** The files know how far the log goes; the record was last written long before. */
function settle(dir: string, { record, hasEnd }: Left, deps: RecoveryDeps): SessionRecord {
  const { clock, log } = deps;
  const state = transition(record.state, { kind: "host_died" });
  const at = new Date(clock.now()).toISOString();
  if (!hasEnd)
    appendEnd(dir, { type: "session.exited", at, session_id: record.session_id, state }, deps);
  const output = measure(join(dir, "output"), deps);
  const events = measure(join(dir, "events"), deps);
  const settled: SessionRecord = {
    ...record,
    state,
    exited_at: record.exited_at ?? at,
    // An exit knows how much was printed, also where the disk had no room for it.
    tail: Math.max(output.tail, state.kind === "exited" ? state.tail : 0),
    first_offset: output.first,
    events_tail: events.tail,
    disk_bytes: output.bytes + events.bytes,
    ...readProgress(dir, record, deps),
  };
  try {
    writeRecord(dir, settled);
  } catch (error) {
    // One that finds no room must not keep the others from their host; the next host settles it again.
    log.warn("the end of a session could not be written to its record", { dir, error });
  }
  return settled;
}

/** The record of an older host knows neither status nor last line: its logs are read once. */
function completeRecord(dir: string, record: SessionRecord, deps: RecoveryDeps): SessionRecord {
  const { agent_status, events_tail, last_line } = record;
  const isComplete =
    record.kind === "agent" ? agent_status?.read === events_tail : last_line !== undefined;
  if (isComplete) return record;
  const complete = { ...record, ...readProgress(dir, record, deps) };
  try {
    writeRecord(dir, complete);
  } catch (error) {
    deps.log.warn("the status of a session could not be written to its record", { dir, error });
  }
  return complete;
}

/** How far the session has come, from the part of its logs that its record does not cover. */
function readProgress(
  dir: string,
  { kind, agent_status }: SessionRecord,
  { log }: RecoveryDeps,
): Partial<SessionRecord> {
  try {
    if (kind === "agent") {
      using events = openLogFiles(join(dir, "events"));
      return { agent_status: catchUp(agent_status, events) };
    }
    using output = openLogFiles(join(dir, "output"));
    return { last_line: findOutputLine(readLast(output, OUTPUT_LINE_BYTES)) };
  } catch (error) {
    log.warn("the status of a session cannot be read from its logs", { dir, error });
    return {};
  }
}

/** Behind the end of a session come at most a few lines about those who look at it. */
const END_WITHIN_BYTES = 256 * 1024;
const MILESTONES = ["session.opened", "session.resumed", "session.exited"];

/**
 * Whether the events tell of the end that the record tells of. The record comes first, and a host may die before the
 * other is written: then the agent would look as if it was still at work, and what waits for it would wait forever.
 * Among sessions that were settled before, only a crashed agent can be in that state.
 */
function findEnd(dir: string, record: SessionRecord, { log }: RecoveryDeps): boolean {
  if (isSettled(record) && !isCrashed(record)) return true;
  try {
    using events = openLogFiles(join(dir, "events"));
    const types = readLast(events, END_WITHIN_BYTES).toString("utf8").split("\n").map(typeOf);
    return types.findLast((type) => MILESTONES.includes(type)) === "session.exited";
  } catch (error) {
    log.warn("the events of a session cannot be read", { dir, error });
    return true;
  }
}

function readLast(files: LogFiles, most: number): Buffer {
  const tail = files.tail();
  const pieces: Buffer[] = [];
  for (let next = Math.max(files.first(), tail - most); next < tail; ) {
    const chunk = files.read(next, { limit: most, tail });
    if (chunk === undefined) break;
    if (chunk.kind === "bytes") pieces.push(Buffer.from(chunk.bytes));
    next = endOf(chunk);
  }
  return Buffer.concat(pieces);
}

/** Empty for half a line. */
function typeOf(line: string): string {
  try {
    return String(JSON.parse(line).type);
  } catch {
    return "";
  }
}

/** On a line of its own: the host may have died in the middle of one. */
function appendEnd(dir: string, event: SessionEvent, { clock, log }: RecoveryDeps): void {
  try {
    using events = openLogWriter({ dir: join(dir, "events"), clock, holdOpen: false });
    events.append(channels.events, Buffer.from(`\n${JSON.stringify(event)}\n`));
  } catch (error) {
    log.warn("the end of a session could not be written to its events", { dir, error });
  }
}

/** Of the files that are there: what was evicted lies between the first offset and the tail and takes no room. */
function measure(dir: string, { clock, log }: RecoveryDeps) {
  try {
    using files = openLogWriter({ dir, clock });
    return { tail: files.tail, first: files.first, bytes: files.diskBytes };
  } catch (error) {
    log.warn("a log cannot be read", { dir, error });
    return { tail: 0, first: 0, bytes: 0 };
  }
}

/** A host that died between making the directory and writing the record left just that. */
function removeIfEmpty(dir: string): boolean {
  try {
    rmdirSync(dir);
    return true;
  } catch {
    return false;
  }
}
