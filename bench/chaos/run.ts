import { cpSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { World } from "#bench/chaos-world/world.ts";
import { openRandom } from "#test/harness/random.ts";
import { type AgentCounts, runAgent } from "./agents.ts";
import { injectAll } from "./inject.ts";
import { checkHeld, countHeld, endHost, endSessions } from "./left-behind.ts";
import { type FaultKind, faultKinds, planSteps } from "./schedule.ts";
import { runStreams, type StreamCounts } from "./streams.ts";
import { runTyping, type TypingCounts } from "./typists.ts";

export interface ChaosOptions {
  readonly seed: number;
  readonly totalMs: number;
  readonly say: (line: string) => void;
  /** What is left of a run that failed is moved into this folder; absent = it stays where it was. */
  readonly evidence?: string | undefined;
}

const LANES = 3;
const AGENTS = 2;
const SHOWN = 20;
const FIRST_MS = 180_000;
/** A run of this length or more has met every kind of fault this often. */
const WHOLE_MS = 60_000;
const EACH = 2;

/** Answers whether nothing was wrong. */
export async function runChaos(options: ChaosOptions): Promise<boolean> {
  const { seed, totalMs, say } = options;
  say(`seed ${seed}, ${totalMs / 60_000} min`);
  const world = new World();
  let isGood = false;
  try {
    await runWorld(world, options);
  } catch (error) {
    world.wrong(
      `the run did not come to its end: ${error instanceof Error ? error.stack : String(error)}`,
    );
  } finally {
    isGood = world.problems.length === 0;
    // The disk goes with its mount.
    if (!isGood && world.disk.refused === undefined) keepData(world);
    await world[Symbol.asyncDispose]();
    if (isGood) rmSync(world.dir, { recursive: true, force: true });
  }
  for (const problem of world.problems.slice(0, SHOWN)) say(`  ${problem}`);
  if (world.problems.length > SHOWN) say(`  and ${world.problems.length - SHOWN} more`);
  if (!isGood)
    say(
      `again: npm run chaos -- --seed ${seed} --minutes ${totalMs / 60_000}\nevidence: ${keepEvidence(world, options.evidence)}`,
    );
  say(isGood ? "PASS" : `FAIL seed ${seed}`);
  return isGood;
}

async function runWorld(world: World, { seed, totalMs, say }: ChaosOptions): Promise<void> {
  await world.open();
  await world.insist("first request", FIRST_MS, () =>
    world.client("proxy").call("session.list", {}),
  );
  const before = await countHeld(world);
  const steps = planSteps(seed, totalMs);
  for (const [at, { at_ms, kind, lasts_ms }] of steps.entries())
    world.journal(`plan ${at + 1} ${at_ms} ${kind} ${lasts_ms}`);
  world.begin();
  const random = openRandom(seed ^ 0x5eed);
  const streams: StreamCounts = { sessions: 0, lost: 0, bytes: 0, gaps: 0, readers: 0 };
  const typing: TypingCounts = { lines: 0, takeovers: 0 };
  const agents: AgentCounts = { turns: 0, interrupted: 0, sent: 0 };
  const until = totalMs;
  const work = [
    ...Array.from({ length: LANES }, (_, lane) =>
      runStreams(world, openRandom(random.below(2 ** 30)), { lane, until, counts: streams }),
    ),
    runTyping(world, openRandom(random.below(2 ** 30)), { until, counts: typing }),
    ...Array.from({ length: AGENTS }, (_, at) =>
      runAgent(world, { name: `a${at}`, until, counts: agents }),
    ),
  ].map((part) => part.catch((error: unknown) => world.wrong(String(error))));
  const done = await injectAll(world, steps);
  await Promise.all(work);
  say(
    `${streams.sessions} streams (${streams.lost} lost, ${streams.gaps} gaps) of ${streams.bytes} bytes, ${streams.readers} readers`,
  );
  say(`${typing.lines} lines typed, ${typing.takeovers} takeovers`);
  say(`${agents.sent} messages, ${agents.turns} turns, ${agents.interrupted} interrupted`);
  say([...done].map(([kind, count]) => `${kind} ${count}`).join(", "));
  for (const problem of await endSessions(world)) world.wrong(problem);
  for (const problem of await checkHeld(world, before)) world.wrong(problem);
  for (const gateway of world.gateways) await gateway[Symbol.asyncDispose]();
  for (const problem of await endHost(world)) world.wrong(problem);
  checkDone(world, done, totalMs);
}

function checkDone(world: World, done: ReadonlyMap<FaultKind, number>, totalMs: number): void {
  if (totalMs < WHOLE_MS) return;
  // The keys are the kinds.
  for (const kind of Object.keys(faultKinds) as FaultKind[])
    if ((done.get(kind) ?? 0) < EACH) world.wrong(`${kind} was done ${done.get(kind) ?? 0} times`);
}

function keepEvidence({ dir }: World, folder: string | undefined): string {
  if (folder === undefined) return dir;
  const kept = join(folder, basename(dir));
  // Sockets cannot be copied.
  cpSync(dir, kept, { recursive: true, filter: (path) => !path.endsWith(".sock") });
  rmSync(dir, { recursive: true, force: true });
  return kept;
}

function keepData(world: World): void {
  try {
    cpSync(world.disk.path, join(world.dir, "kept"), {
      recursive: true,
      filter: (path) => !path.endsWith(".sock") && !path.endsWith("ballast"),
    });
  } catch (error) {
    world.journal(`cannot keep the data: ${String(error)}`);
  }
}
