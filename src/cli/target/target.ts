import type { Client } from "#client/client.ts";
import { isLive, isResumable } from "#contract/ended.ts";
import { asFault, Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { OperationInput, OperationOutput } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import { defined } from "#contract/values/defined.ts";
import type { RunRecord } from "#registry/run-record.ts";
import { SESSION_ID } from "#registry/run-record.ts";
import { findByAddress, isRun } from "#registry/runs.ts";
import { normalizeAddress, parseTarget } from "#registry/target-word.ts";
import { findEnclosing, refuseEnclosing } from "./enclosing.ts";
import { listRecords } from "./records.ts";

/** As much of a client as is needed to find a session. */
export type Finder = Pick<Client, "address" | "call">;

export interface TargetOptions {
  /** Of runs of this machine that have an address. */
  readonly records?: () => readonly RunRecord[];
  /** The command prints what the session prints from now on, so it must not be one that shows this command's output. */
  readonly isFollowed?: boolean;
  /** Says which session this command runs in. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Ids that an ambiguity lists. */
const SHOWN = 10;
const NAME_CHARS = 40;
const HOW = "reins run -- COMMAND starts one";

/**
 * The session that somebody means, for every command:
 *
 *   nothing, `latest`   the newest live run, but for the session that this command runs in
 *   a number            the live session whose child has exactly this pid
 *   http(s)://…         the run that is served there; of a server with several runs none in particular
 *   anything else       an id, else a session's name, else a part of an id: of the live runs, then of all sessions
 *
 * What is not found is `run_not_found`, whatever it was; several are `ambiguous_target`.
 */
export async function findTarget(
  client: Finder,
  word: string | undefined,
  options: TargetOptions = {},
): Promise<Session> {
  const enclosing = await findEnclosing(client, options.env ?? process.env);
  const session = await findMeant(client, word, { ...options, enclosing });
  if (options.isFollowed === true) refuseEnclosing(session, enclosing);
  return session;
}

interface Search extends TargetOptions {
  readonly enclosing: ReadonlySet<string>;
}

async function findMeant(
  client: Finder,
  word: string | undefined,
  options: Search,
): Promise<Session> {
  const target = parseTarget(word);
  switch (target.kind) {
    case "latest":
      return await findLatest(client, options.enclosing);
    case "pid":
      return await findByPid(client, target.pid);
    case "address":
      return await findServed(client, target.address, options.records ?? listRecords);
    case "id":
      return await findById(client, target.part);
  }
}

/** The same for a session to go on with: also `-1` for the newest one, `-2` for the one before it, ended or not. */
export async function findSession(
  client: Finder,
  word: string,
  { kind }: { readonly kind?: Session["kind"] } = {},
): Promise<Session> {
  const back = /^-(\d+)$/.exec(word.trim())?.[1];
  if (back === undefined) return await findTarget(client, word);
  const position = Number(back);
  if (position === 0)
    throw new Fault("invalid_request", `${word}: -1 is the newest session, -2 the one before it`);
  let count = 0;
  for await (const session of listSessions(client, defined({ kind }))) {
    if (!isRun(session)) continue;
    count += 1;
    if (count === position) return session;
  }
  const there = count === 0 ? "there is none" : `there are only ${count}`;
  throw notFound(`${word} names no session: ${there}; reins ps -a lists them`);
}

async function findLatest(client: Finder, enclosing: ReadonlySet<string>): Promise<Session> {
  for await (const session of listSessions(client, { state: "live" }))
    if (isRun(session) && !enclosing.has(session.session_id)) return session;
  const [own] = enclosing;
  throw new Fault(
    "run_not_found",
    own === undefined
      ? "nothing is running; start something with: reins run -- COMMAND"
      : `nothing is running but ${own}, in which this command runs; start something with: reins run -- COMMAND`,
  );
}

async function findByPid(client: Finder, pid: number): Promise<Session> {
  for await (const session of listSessions(client, { state: "live" }))
    if (session.pid === pid) return session;
  throw notFound(`no run has the pid ${pid}; reins ps lists what runs`);
}

async function findServed(
  client: Finder,
  address: string,
  records: () => readonly RunRecord[],
): Promise<Session> {
  if (client.address !== undefined) return await findSole(client, address, client.address);
  const record = findByAddress(records(), address);
  if (record === undefined)
    throw notFound(`no run of this machine is served at ${address}; --remote asks a server`);
  const session = await findExact(client, record.session_id);
  if (session !== undefined && isLive(session)) return session;
  throw notFound(`the run that was served at ${address} has ended`);
}

async function findSole(client: Finder, address: string, ours: string): Promise<Session> {
  if (normalizeAddress(ours) !== address)
    throw notFound(`${address} is another server than ${ours}, which was asked`);
  try {
    const runs = (await collect(listSessions(client, { state: "live" }))).filter(isRun);
    return chooseSole(runs, address) ?? notRunning(address);
  } catch (error) {
    const { code, message, details } = asFault(error);
    if (details.not_reins === true) throw notFound(message, error);
    if (code !== "host_unavailable") throw error;
    throw notFound(`nothing answers at ${address}; reins ps lists what runs here`, error);
  }
}

function notRunning(address: string): never {
  throw notFound(`nothing is running at ${address}`);
}

async function findById(client: Finder, part: string): Promise<Session> {
  if (SESSION_ID.test(part)) {
    const exact = await findExact(client, part);
    if (exact !== undefined) return exact;
    throw notFound(`there is no session ${part}; reins ps -a lists them`);
  }
  const isMeant = ({ session_id }: Session) => session_id.includes(part);
  const live = await collect(listSessions(client, { state: "live" }));
  const isNamed = (session: Session) => session.name === part && hasName(session);
  const byName = chooseSole(live.filter(isNamed), part);
  if (byName !== undefined) return byName;
  const all = await collect(listSessions(client, searchFor(part)));
  const found =
    chooseSole(all.filter(isNamed), part) ??
    chooseSole(
      live.filter((session) => isRun(session) && isMeant(session)),
      part,
    ) ??
    chooseSole(all.filter(isMeant), part);
  if (found !== undefined) return found;
  throw notFound(
    `no session's id contains ${JSON.stringify(part)}, and no session has this name; reins ps -a lists them`,
  );
}

/** A session that has ended for good gives its name back. */
function hasName(session: Session): boolean {
  return isLive(session) || isResumable(session);
}

/** A search longer than a name would be refused, and finds nothing anyway. */
function searchFor(part: string): Filters {
  return { q: part.slice(0, NAME_CHARS) };
}

async function findExact(client: Finder, session_id: string): Promise<Session | undefined> {
  try {
    return await client.call("session.get", { session_id });
  } catch (error) {
    if (asFault(error).code === "session_not_found") return undefined;
    throw error;
  }
}

function chooseSole(found: readonly Session[], word: string): Session | undefined {
  if (found.length <= 1) return found[0];
  const ids = found.slice(0, SHOWN).map(({ session_id }) => session_id);
  const more = found.length > SHOWN ? ` and ${found.length - SHOWN} more` : "";
  const sentence = `${JSON.stringify(word)} could be ${ids.join(", ")}${more}`;
  throw new Fault("ambiguous_target", sentence, { details: { sessions: ids } });
}

type Filters = Pick<OperationInput<"session.list">, "state" | "kind" | "q">;

/** The newest first, page by page. */
export async function* listSessions(client: Finder, filters: Filters): AsyncGenerator<Session> {
  let cursor: string | null = null;
  do {
    const page: OperationOutput<"session.list"> = await client.call("session.list", {
      ...filters,
      limit: limits.list_most,
      ...(cursor === null ? {} : { cursor }),
    });
    yield* page.sessions;
    cursor = page.cursor;
  } while (cursor !== null);
}

async function collect(sessions: AsyncIterable<Session>): Promise<Session[]> {
  return await Array.fromAsync(sessions);
}

function notFound(sentence: string, cause?: unknown): Fault {
  return new Fault("run_not_found", `${sentence}; ${HOW}`, { cause });
}
