import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { World } from "#bench/chaos-world/world.ts";
import type { Random } from "#test/harness/random.ts";
import { readWholeLog } from "./check-stream.ts";
import { takeEvent } from "./follower.ts";
import { Recorder } from "./recorder.ts";
import { purge } from "./streams.ts";

export interface TypingCounts {
  lines: number;
  takeovers: number;
}

const CREATE_MS = 180_000;
const END_MS = 180_000;
const WRITE_MS = 60;
const PING_MS = 1500;
const TYPISTS = 4;
/** Who stays until everything is acknowledged, but no longer than this. */
const STAY_MS = 8000;

/** Sessions that copy what is typed to a file of their own, and typists who take control from each other. */
export async function runTyping(
  world: World,
  random: Random,
  { until, counts }: { readonly until: number; readonly counts: TypingCounts },
): Promise<void> {
  for (let serial = 0; world.now < until; serial += 1) {
    try {
      await typeOne(world, random, { name: `typing-${serial}`, counts });
    } catch (error) {
      world.wrong(`typing-${serial}: ${String(error)}`);
      await sleep(1000);
    }
  }
}

interface Typed {
  readonly written: string[];
  readonly taken: Set<string>;
}

async function typeOne(
  world: World,
  random: Random,
  { name, counts }: { readonly name: string; readonly counts: TypingCounts },
): Promise<void> {
  const bornAt = world.now;
  const copy = join(world.dir, "work", name);
  const { session_id } = await world.insist(`create ${name}`, CREATE_MS, () =>
    world.client("direct").call("session.create", {
      kind: "command",
      argv: ["/bin/bash", "--norc", "-c", 'exec tee "$1"', world.run, copy],
      stdin: true,
      idempotency_key: `${world.run}/${name}/${world.now}`,
    }),
  );
  world.journal(`${name} is ${session_id}`);
  const typed: Typed = { written: [], taken: new Set() };
  const problems: string[] = [];
  for (let typist = 0; typist < TYPISTS; typist += 1) {
    const recorder = new Recorder(`${name} typist ${typist}`);
    const lasts = random.between(800, 2500);
    const isLast = typist === TYPISTS - 1;
    const stays = typist % 2 === 0 || isLast;
    await typeFor(world, { session_id, recorder, typed, lasts, isLast, stays });
    problems.push(...recorder.problems);
    counts.takeovers += 1;
  }
  const { state } = await world.insist(`end of ${name}`, END_MS, async () => {
    const session = await world.client("direct").call("session.get", { session_id });
    if (session.state.kind === "running") throw new Error("it still runs");
    return session;
  });
  const isLost = state.kind === "lost" && world.wasDone(["host.kill"], bornAt);
  if (!isLost && !(state.kind === "exited" && state.exit_code === 0))
    problems.push(`it ended as ${JSON.stringify(state)}`);
  const text = readFileSync(copy, "utf8");
  const log = readWholeLog(world.dataDir, session_id);
  problems.push(...checkTyped(text, typed, isLost));
  if (!isLost && log.gaps.length === 0 && log.bytes.toString("utf8") !== text)
    problems.push("its log is not what it has read");
  for (const problem of problems) world.wrong(`${name} ${session_id}: ${problem}`);
  counts.lines += typed.taken.size;
  if (problems.length > 0) return;
  rmSync(copy);
  await world.insist(`purge ${name}`, CREATE_MS, () => purge(world, session_id));
}

interface Typing {
  readonly session_id: string;
  readonly recorder: Recorder;
  readonly typed: Typed;
  readonly lasts: number;
  readonly isLast: boolean;
  readonly stays: boolean;
}

/** Takes control, types for a while, and leaves without a word or when all is taken; the last one ends the input. */
async function typeFor(world: World, typing: Typing): Promise<void> {
  const { session_id, recorder, typed, lasts, isLast, stays } = typing;
  await using attached = world.client("proxy").attach(session_id, {
    role: "controller",
    takeover: true,
    since: "tail",
    pingMs: PING_MS,
  });
  const reading = (async () => {
    for await (const event of attached) {
      if (event.type === "output" || event.type === "gap" || event.type === "exit") continue;
      takeEvent(recorder, event);
      if (event.type === "failed") world.journal(`${recorder.name} failed: ${event.fault.message}`);
    }
  })();
  const until = performance.now() + lasts;
  const all: Promise<unknown>[] = [];
  if (stays) world.typists.set(recorder, Number.NEGATIVE_INFINITY);
  for (let line = 0; performance.now() < until; line += 1) {
    const text = `${recorder.name.replaceAll(" ", "-")} ${line}`;
    typed.written.push(text);
    const writing = attached.write(`${text}\n`).then(
      () => {
        typed.taken.add(text);
        if (world.typists.has(recorder)) world.typists.set(recorder, performance.now());
      },
      () => undefined,
    );
    all.push(writing);
    // One after the other or several at once, as people and programs do.
    if (line % 3 === 0) await Promise.race([writing, sleep(lasts)]);
    await sleep(WRITE_MS);
  }
  world.typists.delete(recorder);
  if (stays) await Promise.race([Promise.all(all), sleep(STAY_MS)]);
  if (isLast) await endInput(world, session_id);
  await attached.detach();
  await reading;
}

async function endInput(world: World, session_id: string): Promise<void> {
  await world.insist(`end the input of ${session_id}`, END_MS, async () => {
    const { state } = await world.client("direct").call("session.get", { session_id });
    if (state.kind !== "running") return;
    await world.client("direct").call("session.input", { session_id, eof: true, takeover: true });
  });
}

/** Nothing twice, nothing that nobody wrote, each writer's lines in their order, and all that was acknowledged. */
function checkTyped(text: string, { written, taken }: Typed, isLost: boolean): string[] {
  const found = text.split("\n").slice(0, -1);
  const wrong: string[] = [];
  if (new Set(found).size !== found.length) wrong.push("a line was typed twice");
  const places = found.map((line) => written.indexOf(line));
  if (places.some((place) => place < 0)) wrong.push("there is a line that nobody typed");
  if (places.some((place, at) => at > 0 && place < (places[at - 1] ?? 0)))
    wrong.push("lines are out of order");
  const missing = [...taken].filter((line) => !found.includes(line));
  if (!isLost && missing.length > 0)
    wrong.push(`acknowledged and not typed: ${missing.slice(0, 5).join(", ")}`);
  return wrong;
}
