import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { World } from "#bench/chaos-world/world.ts";
import type { Session } from "#contract/session.ts";
import { locateDataDir } from "#host/data-dir.ts";
import type { Random } from "#test/harness/random.ts";
import { checkLog, checkSeen, readWholeLog } from "./check-stream.ts";
import { checkEventsSeen, EventsSeen, followEvents } from "./events.ts";
import { type FollowerKind, followerKinds, followSession } from "./follower.ts";
import { argvOf, choosePlan, type StreamPlan } from "./printed-stream.ts";
import { Recorder } from "./recorder.ts";

export interface StreamCounts {
  sessions: number;
  lost: number;
  bytes: number;
  gaps: number;
  readers: number;
}

const FOLLOWERS = 2;
/** Beyond the time that the command takes: for every fault that may come in between. */
const PATIENCE_MS = 240_000;
const CREATE_MS = 180_000;
const RECORD_MS = 60_000;
const RECORD_EVERY_MS = 100;
/** A disk that is full, or a process without descriptors, cannot keep everything: what is missing is declared. */
const GAP_CAUSES = ["disk.full", "host.descriptors"] as const;

/** One session after the other until the time is over, each with readers of several kinds, each checked at its end. */
export async function runStreams(
  world: World,
  random: Random,
  {
    lane,
    until,
    counts,
  }: { readonly lane: number; readonly until: number; readonly counts: StreamCounts },
): Promise<void> {
  for (let serial = 0; world.now < until; serial += 1) {
    const name = `${lane}.${serial}`;
    const plan = choosePlan(random);
    const kinds = Array.from({ length: FOLLOWERS }, () => chooseFollower(random, plan));
    // There is always a program that can be killed and a reader that can be slow.
    if (lane === 0) kinds.push("client", "socket");
    try {
      await runStream(world, { name, plan, kinds, counts });
    } catch (error) {
      world.wrong(`stream ${name}: ${String(error)}`);
      await sleep(1000);
    }
  }
}

interface StreamRun {
  readonly name: string;
  readonly plan: StreamPlan;
  readonly kinds: readonly FollowerKind[];
  readonly counts: StreamCounts;
}

/** The raw output of a pipeline has no channels in it, and no word for a gap. */
function chooseFollower(random: Random, plan: StreamPlan): FollowerKind {
  const kind = followerKinds[random.below(followerKinds.length)] ?? "socket";
  return kind === "attach" && plan.channels > 1 ? "logs" : kind;
}

async function runStream(world: World, { name, plan, kinds, counts }: StreamRun): Promise<void> {
  const bornAt = world.now;
  const session_id = await createStream(world, name, plan);
  world.journal(`stream ${name} is ${session_id} ${JSON.stringify(plan)} ${kinds.join(" ")}`);
  const lasts = plan.pause_ms * Math.ceil(plan.lines / plan.block);
  const patience = AbortSignal.timeout(lasts + PATIENCE_MS);
  const recorders = kinds.map((kind, at) => new Recorder(`${name} ${kind} ${at}`));
  const events = new EventsSeen(`${name} events`);
  await Promise.all([
    ...recorders.map((recorder, at) =>
      followSession(world, {
        kind: kinds[at] ?? "socket",
        session_id,
        recorder,
        signal: patience,
      }),
    ),
    followEvents(world, { session_id, seen: events, signal: patience, untilExit: true }),
  ]);
  const session = await world.insist(`end of ${name}`, CREATE_MS, () =>
    world.client("direct").call("session.get", { session_id }),
  );
  const log = readWholeLog(world.dataDir, session_id);
  const hasRawGap = log.gaps.length > 0;
  const wrong = [
    ...(patience.aborted ? ["somebody has not seen its end"] : []),
    ...checkEnd(world, session, bornAt),
    ...(await checkRecord(world, session)),
    ...checkLog(plan, session, log),
    ...recorders.flatMap((recorder, at) =>
      kinds[at] === "attach" && hasRawGap
        ? []
        : checkSeen({ recorder, session, log, hearsExit: kinds[at] !== "poll" }),
    ),
    ...checkEventsSeen(readWholeLog(world.dataDir, session_id, "events"), events),
  ];
  if (log.gaps.length > 0 && !world.wasDone(GAP_CAUSES, bornAt))
    wrong.push(`bytes are lost for no reason: ${JSON.stringify(log.gaps)}`);
  for (const problem of wrong) world.wrong(`stream ${name} ${session_id}: ${problem}`);
  counts.sessions += 1;
  counts.readers += kinds.length;
  counts.bytes += log.bytes.length;
  counts.gaps += log.gaps.length;
  if (session.state.kind === "lost") counts.lost += 1;
  if (wrong.length > 0) return;
  await world.insist(`purge ${name}`, CREATE_MS, () => purge(world, session_id));
}

/** Purged twice is purged. */
export async function purge(world: World, session_id: string): Promise<void> {
  try {
    await world.client("direct").call("session.close", { session_id, purge: true });
  } catch (error) {
    if (!String(error).includes("no session")) throw error;
  }
}

/** Under one key until somebody answers: what was made before an answer got lost is found again. */
async function createStream(world: World, name: string, plan: StreamPlan): Promise<string> {
  let attempt = 0;
  return await world.insist(`create ${name}`, CREATE_MS, async () => {
    const session = await world.client(attempt % 2 === 0 ? "proxy" : "direct").call(
      "session.create",
      {
        kind: plan.kind,
        argv: argvOf(plan, world.run),
        title: name,
        idempotency_key: `${world.run}/${name}/${attempt}`,
      },
      // An answer that a half-open connection has swallowed never comes.
      { signal: AbortSignal.timeout(8000) },
    );
    const hasFailed = session.state.kind === "exited" && session.state.reason === "spawn_failed";
    if (!hasFailed) return session.session_id;
    attempt += 1;
    throw new Error(`it could not be started: ${JSON.stringify(session.state)}`);
  });
}

function checkEnd(world: World, { state }: Session, bornAt: number): string[] {
  if (state.kind === "exited" && state.reason === "exited") return [];
  if (state.kind === "lost" && world.wasDone(["host.kill"], bornAt)) return [];
  return [`it ended as ${JSON.stringify(state)}`];
}

/** What a host that starts now would know: the state that was published, as soon as there is room for it. */
async function checkRecord(world: World, { session_id, state }: Session): Promise<string[]> {
  const path = join(locateDataDir(world.dataDir).sessions, session_id, "session.json");
  const until = performance.now() + RECORD_MS;
  for (;;) {
    const { state: written } = JSON.parse(readFileSync(path, "utf8"));
    // Whether anybody holds the output may change after the exit.
    if (written.kind === state.kind && written.exit_code === exitCodeOf(state)) return [];
    if (performance.now() > until && !world.wasDone(["disk.full"], world.now))
      return [`it is ${JSON.stringify(state)}, its record says ${JSON.stringify(written)}`];
    await sleep(RECORD_EVERY_MS);
  }
}

function exitCodeOf(state: Session["state"]): number | null | undefined {
  return state.kind === "exited" ? state.exit_code : undefined;
}
