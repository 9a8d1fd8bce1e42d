import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  limitTarget,
  lowestFreeDescriptor,
  signalTarget,
  type Target,
} from "#bench/chaos-world/processes.ts";
import type { Span, World } from "#bench/chaos-world/world.ts";
import type { FaultKind, Step } from "./schedule.ts";

/** Does one thing to the system and undoes it after its time; answers what it was done to. */
type Injection = (world: World, step: Step) => Promise<string>;

const NOBODY = "nobody";
const JUMPS_MS = [3_600_000, -3_600_000, 90_000, -86_400_000];
/** On a disk that is only a directory: no file may become larger than this. */
const FILE_BYTES = 4096;
const DELAY_MS = 300;
const SEARCH_MS = 120_000;
/** How long a reset waits for somebody whom it interrupts, and for how long he has heard nothing by then. */
const TYPIST_MS = 10_000;
const HEARD_MS = 150;
const HEARD_EVERY_MS = 20;
const DEAF_MS = 250;
const SEARCH_EVERY_MS = 100;

const injections: Readonly<Record<FaultKind, Injection>> = {
  "client.kill": (world, step) => signalOne(anyProgram(world, step), "SIGKILL"),
  "client.stop": (world, step) => stopFor([anyProgram(world, step)], step),
  "client.hup": (world, step) => signalOne(anyProgram(world, step), "SIGHUP"),
  "gateway.kill": async (world, step) => {
    const gateway = anyGateway(world, step);
    const isBehindProxy = gateway === world.gateways[0];
    if (isBehindProxy) await loseAnswers(world);
    gateway?.hold(step.lasts_ms);
    const said = await signalOne(gateway?.target(), "SIGKILL");
    if (isBehindProxy) world.proxy.reset();
    await sleep(step.lasts_ms);
    await gateway?.ready();
    return said;
  },
  "gateway.stop": (world, step) => stopFor([anyGateway(world, step)?.target()], step),
  "gateway.hup": async (world, step) => {
    const gateway = anyGateway(world, step);
    const said = await signalOne(gateway?.target(), "SIGHUP");
    await sleep(step.lasts_ms);
    await gateway?.ready();
    return said;
  },
  "gateway.descriptors": (world, step) => starve(anyGateway(world, step)?.target(), step),
  "worker.kill": async (world, step) => signalOne(await anyWorker(world, step), "SIGKILL"),
  "worker.stop": async (world, step) => stopFor([await anyWorker(world, step)], step),
  "worker.hup": async (world, step) => signalOne(await anyWorker(world, step), "SIGHUP"),
  "host.kill": async (world) => signalOne(await world.findHost(), "SIGKILL"),
  "host.stop": async (world, step) => stopFor([await world.findHost()], step),
  "host.hup": async (world) => signalOne(await world.findHost(), "SIGHUP"),
  "host.descriptors": async (world, step) => starve(await world.findHost(), step),
  "link.cut": async ({ proxy }) => `${proxy.cut()} connections`,
  "link.reset": async (world) => {
    const typing = await loseAnswers(world);
    return `${world.proxy.reset()} connections, ${typing}`;
  },
  "link.half-open": async ({ proxy }, { lasts_ms }) => {
    const silence = proxy.silence();
    const said = `${proxy.connections} connections`;
    await sleep(lasts_ms);
    silence.end();
    return said;
  },
  "link.delay": async ({ proxy }, { lasts_ms }) => {
    const delay = proxy.delay(DELAY_MS);
    await sleep(lasts_ms);
    delay.end();
    return `${proxy.connections} connections`;
  },
  "reader.slow": async (world, step) => {
    const reader = choose([...world.readers], step);
    reader?.holdFor(step.lasts_ms);
    return reader === undefined ? NOBODY : "a reader";
  },
  "disk.full": fillDisk,
  "clock.jump": async (world, step) => {
    const shift = choose(JUMPS_MS, step) ?? 0;
    writeFileSync(world.clockFile, String(shift));
    return `the clock is off by ${shift} ms`;
  },
  suspend: async (world, step) => {
    const gateways = world.gateways.map((gateway) => gateway.target());
    const worker = await anyWorker(world, step);
    return await stopFor([await world.findHost(), ...gateways, worker], step);
  },
};

/** Whoever stops, starves or ends the same thing waits for the other to be done with it. */
const locks: Readonly<Record<string, string>> = { link: "link", disk: "host", suspend: "host" };

/** While everything is suspended for so long there is nobody to do anything else to: the plan waits for it. */
const LONG_MS = 10_000;

/** Runs the plan; ends when all of it is undone. What waiting pushes behind the plan's own end is left out. */
export async function injectAll(
  world: World,
  steps: readonly Step[],
): Promise<Map<FaultKind, number>> {
  const held = new Map<string, Promise<void>>();
  const done = new Map<FaultKind, number>();
  const all: Promise<void>[] = [];
  const end = steps.at(-1)?.at_ms ?? 0;
  let late = 0;
  for (const [index, step] of steps.entries()) {
    if (late > 0 && step.at_ms + late > end) break;
    await sleep(Math.max(0, step.at_ms + late - world.now));
    const area = step.kind.split(".")[0] ?? "";
    const lock = locks[area] ?? area;
    const before = held.get(lock) ?? Promise.resolve();
    const running = before.then(async () => {
      world.step = index + 1;
      if (await injectOne(world, step, index + 1))
        done.set(step.kind, (done.get(step.kind) ?? 0) + 1);
    });
    held.set(lock, running);
    all.push(running);
    if (step.lasts_ms < LONG_MS) continue;
    await running;
    late = Math.max(late, world.now - step.at_ms);
  }
  await Promise.all(all);
  return done;
}

async function injectOne(world: World, step: Step, number: number): Promise<boolean> {
  const { kind, lasts_ms } = step;
  const span: Span = { kind, from: world.now, to: Number.POSITIVE_INFINITY };
  world.spans.push(span);
  world.journal(`step ${number} ${kind} ${lasts_ms} ms`);
  try {
    const said = await injectSoon(world, step);
    world.journal(`step ${number} ${kind} done: ${said}`);
    return said !== NOBODY;
  } catch (error) {
    world.wrong(`step ${number} ${kind}: ${String(error)}`);
    return false;
  } finally {
    span.to = world.now;
  }
}

/** What there is nobody for yet is tried again for a while. */
async function injectSoon(world: World, step: Step): Promise<string> {
  const until = performance.now() + SEARCH_MS;
  for (;;) {
    const said = await injections[step.kind](world, step);
    if (said !== NOBODY || performance.now() > until) return said;
    await sleep(SEARCH_EVERY_MS);
  }
}

async function signalOne(target: Target | undefined, signal: NodeJS.Signals): Promise<string> {
  const isDone = target !== undefined && signalTarget(target, signal);
  return isDone ? `${signal} to ${target.pid}` : NOBODY;
}

async function stopFor(
  targets: readonly (Target | undefined)[],
  { lasts_ms }: Step,
): Promise<string> {
  const stopped = targets.filter((target) => target !== undefined);
  for (const target of stopped) signalTarget(target, "SIGSTOP");
  if (stopped.length === 0) return NOBODY;
  await sleep(lasts_ms);
  for (const target of stopped) signalTarget(target, "SIGCONT");
  return `STOP and CONT to ${stopped.map(({ pid }) => pid).join(", ")}`;
}

/** Lets somebody type whose acknowledgements are lost on the way: after the reset he has to send it all again. */
async function loseAnswers({ proxy, typists }: World): Promise<string> {
  const until = performance.now() + TYPIST_MS;
  const isHeard = () => [...typists.values()].some((at) => performance.now() - at < HEARD_MS);
  while (!isHeard() && performance.now() < until) await sleep(HEARD_EVERY_MS);
  const said = isHeard() ? "somebody types" : "nobody types";
  proxy.deafen();
  await sleep(DEAF_MS);
  return said;
}

/** What is open stays open, and nothing more can be opened. */
async function starve(target: Target | undefined, { lasts_ms }: Step): Promise<string> {
  if (target === undefined) return NOBODY;
  const most = lowestFreeDescriptor(target.pid);
  const undo = limitTarget(target, "nofile", most);
  await sleep(lasts_ms);
  undo();
  return `${most} descriptors for ${target.pid}`;
}

async function fillDisk(world: World, { lasts_ms }: Step): Promise<string> {
  const { disk } = world;
  if (disk.refused === undefined) {
    const bytes = disk.fill();
    await sleep(lasts_ms).finally(() => disk.free());
    return `${bytes} bytes less`;
  }
  const host = await world.findHost();
  if (host === undefined) return NOBODY;
  const undo = limitTarget(host, "fsize", FILE_BYTES);
  await sleep(lasts_ms);
  undo();
  return `files of ${FILE_BYTES} bytes at most for ${host.pid}`;
}

function anyProgram(world: World, step: Step): Target | undefined {
  const living = [...world.programs].flatMap((program) => program.target() ?? []);
  return choose(living, step);
}

function anyGateway(world: World, step: Step) {
  return choose(world.gateways, step);
}

async function anyWorker(world: World, step: Step): Promise<Target | undefined> {
  return choose(world.workers(), step);
}

function choose<T>(list: readonly T[], { pick }: Step): T | undefined {
  return list[pick % Math.max(1, list.length)];
}
