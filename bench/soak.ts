import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { limits } from "#contract/limits.ts";
import { runCrashingAgents } from "./agent/crashing-agents.ts";
import { runManyAgents } from "./agent/many-agents.ts";
import { runNeverReader } from "./gateway/never-reader.ts";
import { runBursts, runSmallExits, type Wiring, type Wrong } from "./lib/bursts.ts";
import { openCpuHogs } from "./lib/cpu-hogs.ts";
import { closeElusiveTrees } from "./lib/elusive-trees.ts";
import { runFlood } from "./lib/flood.ts";
import { followWithKills } from "./lib/killed-clients.ts";
import { runManySpawns } from "./lib/many-spawns.ts";
import { writeSampleText } from "./lib/sample-text.ts";
import { runManyShellRuns } from "./lib/shells.ts";
import { closeStubbornTrees } from "./lib/stubborn-trees.ts";
import { openTempDir } from "./lib/temp-dir.ts";
import { openTempHost } from "./lib/temp-host.ts";
import { describeMachine, sayMachine } from "./machine.ts";
import { runHugeOutput, runManyProcesses } from "./process/many-processes.ts";
import { choose, readNumber, runProgram } from "./program.ts";
import { runLongSequences } from "./screens/long-sequences.ts";
import { typeThroughTakeovers } from "./typing/takeovers.ts";
import { RELEASED, upgradeReleased } from "./upgrade/released-upgrade.ts";

interface Outcome {
  readonly said: string;
  readonly wrong: Wrong;
}

/** Gets a count of the full size and gives what it is in this run. */
type Scale = (full: number) => number;
type Soak = (scale: Scale) => Promise<Outcome>;

const kinds: readonly Wiring[] = ["terminal", "command"];
const MIB = 1024 * 1024;
const MB = 1e6;
const SHOWN = 5;
/** More memory than this while output flows is a leak. */
const FLAT_KIB = 32 * 1024;
/** The most memory of a gateway with a few viewers. */
const GATEWAY_KIB = 300 * 1024;
/** What a host may hold more after thousands of sessions than after the first ones. */
const SPARE_DESCRIPTORS = 2;

const soaks: Readonly<Record<string, Soak>> = {
  tests: () => runTests("wide"),
  page: () => runTests("page"),
  bursts: soakBursts,
  exits: soakExits,
  clients: soakClients,
  flood: soakFlood,
  spawns: soakSpawns,
  trees: soakTrees,
  "elusive-trees": soakElusiveTrees,
  shells: soakShells,
  "never-reader": soakNeverReader,
  sequences: soakSequences,
  takeovers: soakTakeovers,
  processes: (scale) => runManyProcesses(scale(1000)),
  agents: soakAgents,
  crashes: soakCrashes,
  fuzz: soakFuzz,
  upgrade: soakUpgrade,
  "huge-output": (scale) => runHugeOutput(scale(10_000) * MB),
};

/** 200 bursts of 1 MB, each followed at once by the exit, on a terminal and on pipes, on a busy machine. */
async function soakBursts(scale: Scale): Promise<Outcome> {
  await using dir = openTempDir();
  await using host = await openTempHost();
  await using _hogs = openCpuHogs(2);
  const text = writeSampleText(join(dir.path, "text"), MB);
  const runs = scale(200);
  const wrong: string[] = [];
  for (const kind of kinds) wrong.push(...(await runBursts(host, { kind, runs, text })));
  return { said: `${runs} bursts on a terminal, ${runs} on pipes, 2 CPU hogs`, wrong };
}

async function soakExits(scale: Scale): Promise<Outcome> {
  await using host = await openTempHost();
  const runs = scale(1000);
  const wrong: string[] = [];
  for (const kind of kinds) wrong.push(...(await runSmallExits(host, { kind, runs })));
  return { said: `${runs} times \`printf x; exit 3\` on a terminal, ${runs} on pipes`, wrong };
}

async function soakClients(scale: Scale): Promise<Outcome> {
  await using host = await openTempHost();
  const found = await followWithKills(host, { bytes: scale(50 * MB), clients: 4 });
  const wrong = [...found.wrong];
  if (found.kills_midway === 0) wrong.push("no client was killed while it wrote");
  const said = `${found.tail} bytes, 4 clients, killed ${found.kills} times, ${found.kills_midway} of them midway`;
  return { said, wrong };
}

/** `yes | head -c 2G` with nobody watching. */
async function soakFlood(scale: Scale): Promise<Outcome> {
  await using host = await openTempHost();
  const bytes = scale(2048 * MIB);
  const { ended, log, seconds, memory_kib, disk_bytes } = await runFlood(host, { bytes });
  const { state } = ended;
  const growth = memory_kib.most - memory_kib.early;
  const wrong: string[] = [];
  if (state.kind !== "exited" || state.exit_code !== 0) wrong.push(JSON.stringify(state));
  // `y` and line feed; the terminal puts a carriage return between them.
  if (log.tail !== bytes + Math.floor(bytes / 2)) wrong.push(`the log ends at ${log.tail}`);
  if (!log.isDense) wrong.push("bytes and gaps do not follow each other");
  if (log.tail > limits.output_retained_bytes && log.gaps.length !== 1)
    wrong.push(`a reader from 0 meets ${log.gaps.length} gaps`);
  if (growth > FLAT_KIB) wrong.push(`memory grew by ${growth} KiB`);
  // A segment that is being made may stand beside one that is being evicted.
  if (disk_bytes > limits.output_retained_bytes + 4 * MIB) wrong.push(`${disk_bytes} on disk`);
  const mb = (count: number) => `${(count / MB).toFixed(0)} MB`;
  const gap = log.gaps[0];
  const said = [
    `${mb(log.tail)} in ${seconds.toFixed(1)} s`,
    `memory ${memory_kib.early} then at most ${memory_kib.most} KiB`,
    `at most ${mb(disk_bytes)} on disk`,
    gap === undefined ? "no gap" : `gap ${gap.from} to ${gap.to}`,
  ];
  return { said: said.join(", "), wrong };
}

async function soakSpawns(scale: Scale): Promise<Outcome> {
  await using host = await openTempHost();
  const spawns = scale(8000);
  const { before, after, seconds, wrong } = await runManySpawns(host, { spawns });
  const found = [...wrong];
  if (after.descriptors > before.descriptors + SPARE_DESCRIPTORS) found.push("descriptors leak");
  if (after.threads > before.threads) found.push("threads leak");
  const said = [
    `${spawns} spawns in ${seconds.toFixed(0)} s`,
    `descriptors ${before.descriptors} then ${after.descriptors}`,
    `threads ${before.threads} then ${after.threads}`,
    `memory ${before.rss_kib} then ${after.rss_kib} KiB`,
  ];
  return { said: said.join(", "), wrong: found };
}

/** 50 sessions full of processes that try to stay, closed at once; with cgroups where they can be made, and without. */
async function soakTrees(scale: Scale): Promise<Outcome> {
  const sessions = scale(50);
  const said: string[] = [];
  const wrong: string[] = [];
  for (const cgroups of [true, false]) {
    await using host = await openTempHost({ cgroups });
    const { processes, close_ms, left, survivors } = await closeStubbornTrees(host, { sessions });
    const where = cgroups ? "" : "by marks alone: ";
    said.push(`${where}${processes} processes closed in ${close_ms.toFixed(0)} ms`);
    if (left.length > 0) wrong.push(`${where}${left.length} processes are left 1 s after`);
    if (survivors > 0) wrong.push(`${where}the host names ${survivors} survivors`);
  }
  return { said: `${sessions} sessions, ${said.join(", ")}`, wrong };
}

/** The share of trees that may be left without cgroups; with them, none may. */
const LEFT_PER_TREES = 0.01;

/** 200 trees of each kind that a look at the process table misses; with cgroups where they can be made, and without. */
async function soakElusiveTrees(scale: Scale): Promise<Outcome> {
  const trees = scale(200);
  const said: string[] = [];
  const wrong: string[] = [];
  for (const cgroups of [true, false]) {
    await using host = await openTempHost({ cgroups });
    for (const kind of ["headless", "chain", "tight chain"] as const) {
      const { left, unnamed, close_ms } = await closeElusiveTrees(host, { kind, trees });
      const what = `${kind}${cgroups ? "" : " by marks alone"}: ${left} of ${trees} left, ${unnamed} unnamed, close up to ${close_ms.toFixed(0)} ms`;
      said.push(what);
      const allowed = process.getuid?.() === 0 && cgroups ? 0 : trees * LEFT_PER_TREES;
      if (left > allowed || unnamed > 0) wrong.push(what);
    }
  }
  return { said: said.join(", "), wrong };
}

/** 1000 runs of a shell, each seeing the state that the one before left, and as many that cannot start. */
async function soakShells(scale: Scale): Promise<Outcome> {
  await using host = await openTempHost();
  const runs = scale(1000);
  const { client, pid, dir } = host;
  const shellHost = { client, pid, dataDir: dir.path, sessions: dir.sessions };
  const { before, after, median_ms, wrong } = await runManyShellRuns(shellHost, { runs });
  const found = [...wrong];
  if (after.descriptors > before.descriptors + SPARE_DESCRIPTORS) found.push("descriptors leak");
  if (after.own_descriptors > before.own_descriptors + SPARE_DESCRIPTORS)
    found.push("descriptors of the client leak");
  if (after.files > before.files) found.push("files of the shells are left");
  if (after.live > before.live) found.push("sessions are left");
  const said = [
    `${runs} runs of a shell, ${median_ms.toFixed(1)} ms each`,
    `descriptors ${before.descriptors} then ${after.descriptors}`,
    `files ${before.files} then ${after.files}`,
  ];
  return { said: said.join(", "), wrong: found };
}

/** A minute of `yes` with a viewer that never reads. */
async function soakNeverReader(scale: Scale): Promise<Outcome> {
  const seconds = scale(60);
  const found = await runNeverReader(seconds);
  const { tail } = found;
  const wrong = (["gateway", "host"] as const).flatMap((name) => {
    const growth = Math.max(...found[name]) - (found[name][0] ?? 0);
    return growth > FLAT_KIB ? [`the ${name}'s memory grew by ${growth} KiB`] : [];
  });
  const said = [
    `${(tail / MB).toFixed(0)} MB in ${seconds} s`,
    `memory of the gateway ${found.gateway.join(", ")} KiB`,
    `of the host ${found.host.join(", ")} KiB`,
  ];
  return { said: said.join(", "), wrong };
}

/** 50 terminals that each print one sequence of 20 MB, while others watch. */
async function soakSequences(scale: Scale): Promise<Outcome> {
  const rounds = scale(50);
  const found = await runLongSequences({ rounds, bytes: 20 * MB });
  const wrong = [...found.wrong];
  if (found.gateway_kib > GATEWAY_KIB) wrong.push(`the gateway held ${found.gateway_kib} KiB`);
  const said = [
    `${rounds} sequences of 20 MB`,
    `the gateway at most ${found.gateway_kib} KiB, what draws ${found.drawing_kib} KiB`,
    `another screen within ${found.slowest_ms.toFixed(0)} ms`,
  ];
  return { said: said.join(", "), wrong };
}

/** The longest that a client may take to come back after a cut. */
const RETURN_MS = 2000;

/** 10,000 takeovers by two clients that both type, with a cut after every 100: each key comes once, in order. */
async function soakTakeovers(scale: Scale): Promise<Outcome> {
  const found = await typeThroughTakeovers({ takeovers: scale(10_000), cutEvery: 100 });
  const wrong = [...found.wrong];
  if (found.slowest_return_ms > RETURN_MS) wrong.push("a client took too long to come back");
  const said = [
    `${found.takeovers} takeovers, ${found.keys} keys, ${found.cuts} cuts`,
    `back within ${found.slowest_return_ms.toFixed(0)} ms`,
  ];
  return { said: said.join(", "), wrong };
}

/** 100 agents that speak at once: every event is heard, in its place, and stands in the log as it was heard. */
async function soakAgents(scale: Scale): Promise<Outcome> {
  const size = { agents: scale(100), deltas: 500, every_ms: 20 };
  const { events, seconds, workers, wrong } = await runManyAgents(size);
  const pss = workers.reduce((sum, { pss_kib }) => sum + pss_kib, 0);
  const said = [
    `${size.agents} agents, ${events} events in ${seconds.toFixed(1)} s`,
    `workers ${(pss / 1024).toFixed(0)} MiB`,
  ];
  return { said: said.join(", "), wrong };
}

/** 450 messages for agents whose workers are killed all the time: each comes once, in order, and none stays queued. */
async function soakCrashes(scale: Scale): Promise<Outcome> {
  const size = { agents: 6, messages: scale(450) };
  const { accepted, turns, kills, waiting, seconds, wrong } = await runCrashingAgents(size);
  const said = `${accepted} messages in ${turns} turns with ${kills} kills, ${waiting} left waiting, ${seconds.toFixed(0)} s`;
  return { said, wrong: waiting === 0 ? wrong : [...wrong, "accepted messages wait"] };
}

/** The host of a released commit, with 20 live sessions and clients that type, becomes this version. */
async function soakUpgrade(scale: Scale): Promise<Outcome> {
  const { sessions, lines, upgrade_ms, wrong } = await upgradeReleased({ sessions: scale(20) });
  const said = `from ${RELEASED}: ${sessions} sessions, ${lines} lines typed, upgraded in ${upgrade_ms.toFixed(0)} ms`;
  return { said, wrong };
}

/** The tests that are too long for `npm test`, and those that repeat something a few times there, in full. */
async function runTests(kind: "wide" | "page"): Promise<Outcome> {
  const script = fileURLToPath(new URL("../scripts/test.mjs", import.meta.url));
  const stdio = ["ignore", "pipe", "inherit"] as const;
  const child = spawn(process.execPath, [script, `--${kind}`], { stdio: [...stdio] });
  let said = "";
  for await (const line of createInterface(child.stdout)) {
    // Which test failed, and how, beside the verdicts.
    process.stderr.write(`${line}\n`);
    said = line;
  }
  const [code] = child.exitCode === null ? await once(child, "exit") : [child.exitCode];
  return { said, wrong: code === 0 ? [] : [`the tests ended with ${code}`] };
}

/** Nonsense for the gateway and the host: the tests of it with a hundred times as much of each kind. */
async function soakFuzz(scale: Scale): Promise<Outcome> {
  const runs = scale(10_000);
  const vitest = fileURLToPath(new URL("../node_modules/.bin/vitest", import.meta.url));
  const child = spawn(vitest, ["run", "--project=e2e", "test/e2e/fuzz-"], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    env: { ...process.env, FUZZ_RUNS: String(runs) },
    // Which test failed, and how, beside the verdicts.
    stdio: ["ignore", process.stderr, "inherit"],
  });
  const [code] = await once(child, "exit");
  return { said: `${runs} of each kind`, wrong: code === 0 ? [] : [`vitest ended with ${code}`] };
}

async function runOne(name: string, soak: Soak, scale: Scale): Promise<boolean> {
  const started = performance.now();
  const { said, wrong } = await soak(scale).catch(
    (error: unknown): Outcome => ({ said: "it did not run to its end", wrong: [String(error)] }),
  );
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const isGood = wrong.length === 0;
  process.stdout.write(`${isGood ? "PASS" : "FAIL"} ${name}: ${said} (${seconds} s)\n`);
  for (const problem of wrong.slice(0, SHOWN)) process.stdout.write(`     ${problem}\n`);
  if (wrong.length > SHOWN) process.stdout.write(`     and ${wrong.length - SHOWN} more\n`);
  return isGood;
}

const USAGE = `npm run soak: the runs and the tests that are too long for npm test, in full size; fails when one of them does.
  --only NAME   one of them (again for more)
  --scale N     that part of the size, for a try`;

await runProgram(USAGE, async () => {
  const { values } = parseArgs({
    options: { only: { type: "string", multiple: true }, scale: { type: "string" } },
  });
  const chosen = choose(values.only, soaks);
  const part = readNumber("scale", values.scale ?? "1");
  process.stdout.write(`${sayMachine(describeMachine())}\n`);
  let failed = 0;
  for (const [name, soak] of chosen) {
    const isGood = await runOne(name, soak, (full) => Math.max(2, Math.round(full * part)));
    if (!isGood) failed += 1;
  }
  process.stdout.write(`${chosen.length - failed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
});
