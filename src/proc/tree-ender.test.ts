import { describe, expect, test } from "vitest";
import { Emitter } from "#base/emitter.ts";
import { ManualClock } from "#base/manual-clock.ts";
import type { Survivor } from "#contract/session-state.ts";
import type { ProcessStat } from "./identity.ts";
import type { Snapshot } from "./process-table.ts";
import { type EndingTree, TreeEnder } from "./tree-ender.ts";

/** What a made-up process does with a signal; true when it dies of it. */
type Nature = (signal: NodeJS.Signals, world: World) => boolean;

const polite: Nature = (signal) => signal === "SIGHUP" || signal === "SIGKILL";
const stubborn: Nature = (signal) => signal === "SIGKILL";
const immortal: Nature = () => false;

const GRACE_MS = 250;
const KILL_LIMIT_MS = 2000;
const ROOT_PID = 77;

class World {
  readonly clock = new ManualClock();
  readonly errors: unknown[] = [];
  /** Every signal, as `pid SIGNAL`. */
  readonly sent: string[] = [];
  readonly killedGroups: string[] = [];
  looks = 0;
  /** So many of the next looks fail. */
  blindLooks = 0;
  /** Whether deaths are told. */
  seesDeaths = true;
  /** Whether no signal meets anything alive. */
  dodges = false;
  readonly #alive = new Map<
    number,
    { readonly stat: ProcessStat; readonly nature: Nature; readonly tree: string }
  >();
  readonly #deaths = new Emitter<void>((error) => void this.errors.push(error));
  #pid = 100;

  add(tree: string, nature: Nature): number {
    this.#pid += 1;
    const pid = this.#pid;
    const stat = { pid, name: "x", state: "S", ppid: 1, pgid: pid, sid: pid, start_time: pid };
    this.#alive.set(pid, { stat, nature, tree });
    return pid;
  }

  die(pid: number): void {
    this.#alive.delete(pid);
    if (this.seesDeaths) this.#deaths.emit();
  }

  openEnder(options: { readonly poll_ms?: number } = {}): TreeEnder {
    return new TreeEnder({
      clock: this.clock,
      look: () => this.#look(),
      onDeath: (listener) => this.#deaths.on(listener),
      kill_limit_ms: KILL_LIMIT_MS,
      send: (member, signal) => this.#send(member.pid, signal),
      describe: ({ pid }) => ({ pid, uid: 0, command: "x", why: "it is made up" }),
      onError: (error) => void this.errors.push(error),
      ...options,
    });
  }

  tree(name: string): EndingTree {
    return {
      root_pid: ROOT_PID,
      find: () =>
        [...this.#alive.values()].filter(({ tree }) => tree === name).map(({ stat }) => stat),
      killGroup: () => void this.killedGroups.push(name),
    };
  }

  #look(): Snapshot {
    this.looks += 1;
    if (this.blindLooks > 0) {
      this.blindLooks -= 1;
      throw new Error("EMFILE");
    }
    return { processes: [], sessionOf: () => undefined, limitOf: () => undefined };
  }

  #send(pid: number, signal: NodeJS.Signals): boolean {
    const target = this.#alive.get(pid);
    if (target === undefined || this.dodges) return false;
    this.sent.push(`${pid} ${signal}`);
    if (target.nature(signal, this)) this.die(pid);
    return true;
  }
}

/** The end of a tree and when it came. */
function watchEnd(world: World, end: Promise<readonly Survivor[]>) {
  const state: { survivors?: readonly Survivor[]; at?: number } = {};
  const done = end.then((survivors) =>
    Object.assign(state, { survivors, at: world.clock.monotonic() }),
  );
  return { state, done };
}

/** Lets time pass in small steps, and promises settle in between. */
async function pass(world: World, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 1) {
    world.clock.advance(1);
    await Promise.resolve();
    await Promise.resolve();
  }
}

describe("the end of a tree", () => {
  test("comes at once when nobody is there, after two looks", async () => {
    const world = new World();
    using ender = world.openEnder();
    const { state } = watchEnd(world, ender.end(world.tree("a"), GRACE_MS));
    await pass(world, 1);
    expect(state.survivors).toEqual([]);
    expect(world.looks).toBe(2);
    expect(world.clock.timers).toBe(0);
  });

  test("is not believed when only one look saw nobody", async () => {
    const world = new World();
    using ender = world.openEnder();
    const pid = world.add("a", polite);
    const tree = world.tree("a");
    let isHidden = true;
    // Between a fork and an exit in the same moment, one look can miss both.
    const find: EndingTree["find"] = (snapshot) => {
      const found = isHidden ? [] : tree.find(snapshot);
      isHidden = false;
      return found;
    };
    const { state } = watchEnd(world, ender.end({ ...tree, find }, GRACE_MS));
    await pass(world, 20);
    expect(world.sent).toEqual([`${pid} SIGHUP`]);
    expect(state.survivors).toEqual([]);
  });

  test("waits for no grace when everybody goes at the hang-up", async () => {
    const world = new World();
    using ender = world.openEnder();
    const pids = [world.add("a", polite), world.add("a", polite)];
    const { state } = watchEnd(world, ender.end(world.tree("a"), GRACE_MS));
    await pass(world, 20);
    expect(state.survivors).toEqual([]);
    expect(state.at).toBeLessThan(20);
    expect(world.sent).toEqual(pids.map((pid) => `${pid} SIGHUP`));
  });

  test("always kills the cgroup, also when no process was seen", async () => {
    const world = new World();
    using ender = world.openEnder();
    const { done } = watchEnd(world, ender.end(world.tree("a"), GRACE_MS));
    await pass(world, 1);
    await done;
    expect(world.killedGroups).toEqual(["a"]);
  });

  test("asks, continues, waits out the grace, stops and kills, in this order", async () => {
    const world = new World();
    using ender = world.openEnder();
    const pid = world.add("a", stubborn);
    const { state } = watchEnd(world, ender.end(world.tree("a"), GRACE_MS));
    await pass(world, GRACE_MS - 1);
    expect(world.sent).toEqual([`${pid} SIGHUP`, `${pid} SIGCONT`]);
    expect(world.killedGroups).toEqual([]);
    await pass(world, 20);
    expect(world.sent.slice(2)).toEqual([`${pid} SIGSTOP`, `${pid} SIGKILL`]);
    expect(world.killedGroups[0]).toBe("a");
    expect(state.survivors).toEqual([]);
  });

  test("hunts after every KILL, until a look shows that nothing is left", async () => {
    const world = new World();
    using ender = world.openEnder();
    let chain = world.add("a", stubborn);
    let hunts = 0;
    // Forks and exits in front of every signal; only the third hunt is fast enough.
    const hunt = () => {
      hunts += 1;
      world.die(chain);
      if (hunts < 3) chain = world.add("a", stubborn);
    };
    const elusive: EndingTree = { ...world.tree("a"), hunt };
    world.dodges = true;
    const { state } = watchEnd(world, ender.end(elusive, 0));
    await pass(world, 50);
    expect(state.survivors).toEqual([]);
    expect(hunts).toBe(3);
  });

  test("gives those who go during the grace the time that they need, and no more", async () => {
    const world = new World();
    using ender = world.openEnder();
    const pid = world.add("a", stubborn);
    const { state } = watchEnd(world, ender.end(world.tree("a"), GRACE_MS));
    await pass(world, 100);
    expect(state.survivors).toBeUndefined();
    world.die(pid);
    await pass(world, 20);
    expect(state.survivors).toEqual([]);
    expect(state.at).toBeLessThan(GRACE_MS);
  });

  test("kills at once without a grace", async () => {
    const world = new World();
    using ender = world.openEnder();
    world.add("a", stubborn);
    const { state } = watchEnd(world, ender.end(world.tree("a"), 0));
    await pass(world, 5);
    expect(state.survivors).toEqual([]);
  });

  test("stops until nobody new is there, and only then kills", async () => {
    const world = new World();
    using ender = world.openEnder();
    let born = 0;
    // Has forked just before the STOP took hold of it.
    const forker: Nature = (signal, { add }) => {
      if (signal === "SIGSTOP" && born < 5) {
        born += 1;
        add.call(world, "a", forker);
      }
      return signal === "SIGKILL";
    };
    world.add("a", forker);
    const { state } = watchEnd(world, ender.end(world.tree("a"), 0));
    await pass(world, 50);
    expect(state.survivors).toEqual([]);
    const signals = world.sent.map((line) => line.split(" ")[1]);
    expect(signals.filter((signal) => signal === "SIGSTOP")).toHaveLength(6);
    expect(signals.lastIndexOf("SIGSTOP")).toBeLessThan(signals.indexOf("SIGKILL"));
  });

  test("does not wait for ever for who forks without end, and kills late births too", async () => {
    const world = new World();
    using ender = world.openEnder();
    let isFertile = true;
    const hydra: Nature = (signal, { add }) => {
      if (signal === "SIGSTOP" && isFertile) add.call(world, "a", hydra);
      return signal === "SIGKILL";
    };
    world.add("a", hydra);
    // One is born between the last STOP and the KILL.
    const late: Nature = (signal, { add }) => {
      if (signal === "SIGKILL") add.call(world, "a", stubborn);
      return signal === "SIGKILL";
    };
    world.add("a", late);
    const { state } = watchEnd(world, ender.end(world.tree("a"), 0));
    await pass(world, 300);
    isFertile = false;
    await pass(world, 20);
    expect(state.survivors).toEqual([]);
  });

  test("names who cannot be ended once the limit is over", async () => {
    const world = new World();
    using ender = world.openEnder();
    const pid = world.add("a", immortal);
    const { state } = watchEnd(world, ender.end(world.tree("a"), GRACE_MS));
    await pass(world, GRACE_MS + KILL_LIMIT_MS - 10);
    expect(state.survivors).toBeUndefined();
    await pass(world, 50);
    expect(state.survivors).toEqual([{ pid, uid: 0, command: "x", why: "it is made up" }]);
    expect(world.clock.timers).toBe(0);
  });

  test("takes a look that failed for no look at all", async () => {
    const world = new World();
    using ender = world.openEnder();
    world.add("a", stubborn);
    world.blindLooks = 5;
    const { state } = watchEnd(world, ender.end(world.tree("a"), 0));
    await pass(world, 600);
    expect(state.survivors).toBeUndefined();
    await pass(world, 100);
    expect(state.survivors).toEqual([]);
    expect(world.sent.at(-1)).toMatch(/SIGKILL$/);
    expect(world.errors.map(String)).toEqual(["Error: EMFILE"]);
  });

  test("is waited for no longer than one that is seen, ever more rarely, and says that nobody looked", async () => {
    const world = new World();
    using ender = world.openEnder();
    world.add("a", polite);
    world.blindLooks = Number.POSITIVE_INFINITY;
    const { state } = watchEnd(world, ender.end(world.tree("a"), GRACE_MS));
    await pass(world, GRACE_MS + KILL_LIMIT_MS - 10);
    expect(state.survivors).toBeUndefined();
    await pass(world, 20);
    const why = "processes could not be looked at, so it may still run";
    expect(state.survivors).toEqual([{ pid: ROOT_PID, uid: -1, command: "", why }]);
    expect(world.looks).toBeLessThan(15);
    expect(world.errors.map(String)).toEqual(["Error: EMFILE"]);
    expect(world.clock.timers).toBe(0);
  });

  test("is seen by asking where deaths are not told", async () => {
    const world = new World();
    world.seesDeaths = false;
    using ender = world.openEnder({ poll_ms: 20 });
    const pid = world.add("a", stubborn);
    const { state } = watchEnd(world, ender.end(world.tree("a"), GRACE_MS));
    await pass(world, 50);
    world.die(pid);
    await pass(world, 30);
    expect(state.survivors).toEqual([]);
    expect(state.at).toBeLessThan(GRACE_MS);
    expect(world.clock.timers).toBe(0);
  });

  test("tells those who still wait when nobody will look any more", async () => {
    const world = new World();
    const ender = world.openEnder();
    const pid = world.add("a", immortal);
    const { state, done } = watchEnd(world, ender.end(world.tree("a"), GRACE_MS));
    await pass(world, 10);
    ender[Symbol.dispose]();
    ender[Symbol.dispose]();
    await done;
    expect(state.survivors?.map((survivor) => survivor.pid)).toEqual([pid]);
    expect(world.clock.timers).toBe(0);
  });
});

describe("the ends of many trees", () => {
  test("share their looks, and none waits for another's grace", async () => {
    const world = new World();
    using ender = world.openEnder();
    const names = Array.from({ length: 50 }, (_, index) => `tree ${index}`);
    const quick = names.map((name) => {
      world.add(name, polite);
      return watchEnd(world, ender.end(world.tree(name), 60_000));
    });
    world.add("slow", stubborn);
    const slow = watchEnd(world, ender.end(world.tree("slow"), GRACE_MS));
    await pass(world, 30);
    expect(quick.filter(({ state }) => state.survivors === undefined)).toEqual([]);
    expect(slow.state.survivors).toBeUndefined();
    expect(world.looks).toBeLessThan(10);
    await pass(world, GRACE_MS);
    expect(slow.state.survivors).toEqual([]);
    expect(world.looks).toBeLessThan(20);
  });
});
