import type { Clock } from "#base/clock.ts";
import type { Survivor } from "#contract/session-state.ts";
import type { ProcessStat } from "./identity.ts";
import type { Snapshot } from "./process-table.ts";

/**
 * Ends trees of processes, any number at once, all from the same looks at the process table:
 *
 *   asked ──HUP, CONT──> grace ──time is over──> stopping ──nobody new──> killing ──nobody left, or time over──> done
 *                          └────────────── nobody left, twice in a row ─────────────────────────────────────────^
 *
 * `stopping` sends STOP to members until a look shows no new one, so that nobody can fork away from the KILL that
 * follows. A cgroup does that part in one write, which every ending makes; the looks then only confirm it.
 */
export interface EndingTree {
  /** Its first process, for who has to be named when nobody could be seen. */
  readonly root_pid: number;
  find(snapshot: Snapshot): readonly ProcessStat[];
  /** Ends what is in the session's cgroup, where there is one. */
  killGroup(): void;
  /** Kills for a moment, without a pause, what forks faster than looks can follow. */
  hunt?(): void;
}

interface TreeEnderDeps {
  readonly clock: Clock;
  readonly look: () => Snapshot;
  /** Calls back after deaths that the host can see; as a subreaper it sees the last one of every tree. */
  readonly onDeath: (listener: () => void) => Disposable;
  /** Where not every death can be seen: look this often as well. */
  readonly poll_ms?: number | undefined;
  readonly kill_limit_ms: number;
  readonly send: (member: ProcessStat, signal: NodeJS.Signals) => boolean;
  readonly describe: (member: ProcessStat) => Survivor;
  readonly onError: (error: unknown) => void;
  /** Makes room for what `look`, `send` and the rest open, one file at a time, when no descriptor is left. */
  readonly lend?: (<T>(work: () => T) => T) | undefined;
}

type Phase =
  | { readonly kind: "asked" }
  | { readonly kind: "grace" }
  | { readonly kind: "stopping"; readonly stopped: Map<number, ProcessStat>; rounds: number }
  | { readonly kind: "killing" };

interface Ending {
  readonly tree: EndingTree;
  readonly grace_ms: number;
  /** Whoever could not be looked at until then is not looked for any longer. */
  readonly blind_until: number;
  readonly done: (survivors: readonly Survivor[]) => void;
  phase: Phase;
  deadline: number;
  emptyLooks: number;
}

/** Deaths come in bursts; one look serves those of so many ms. */
const LOOK_EVERY_MS = 5;
/** A tree that forks faster than this many looks, or than looks of so long, is killed as it is. */
const STOP_ROUNDS = 50;
const STOP_MS = 500;
/** After a look that failed, as it does when no descriptor is left. */
const LOOK_AGAIN_MS = 20;
const LOOK_AGAIN_LONGEST_MS = 500;
const UNSEEN = "processes could not be looked at, so it may still run";

export class TreeEnder implements Disposable {
  readonly #deps: TreeEnderDeps;
  readonly #endings = new Set<Ending>();
  readonly #deaths: Disposable;
  #soon: Disposable | undefined;
  #deadline: Disposable | undefined;
  /** Looks that failed, in a row. */
  #blindLooks = 0;

  constructor(deps: TreeEnderDeps) {
    this.#deps = deps;
    this.#deaths = deps.onDeath(() => {
      if (this.#endings.size > 0) this.#lookIn(LOOK_EVERY_MS);
    });
  }

  end(tree: EndingTree, graceMs: number): Promise<readonly Survivor[]> {
    const { promise, resolve } = Promise.withResolvers<readonly Survivor[]>();
    const { clock, kill_limit_ms } = this.#deps;
    this.#endings.add({
      tree,
      grace_ms: graceMs,
      blind_until: clock.monotonic() + graceMs + kill_limit_ms,
      done: resolve,
      phase: { kind: "asked" },
      deadline: 0,
      emptyLooks: 0,
    });
    this.#lookIn(0);
    return promise;
  }

  /** Whoever still waits is told who lives at this moment. */
  [Symbol.dispose](): void {
    this.#deaths[Symbol.dispose]();
    this.#soon?.[Symbol.dispose]();
    this.#deadline?.[Symbol.dispose]();
    if (this.#endings.size === 0) return;
    this.#lend(() => {
      const members = this.#findAll();
      for (const ending of [...this.#endings]) {
        const found = members?.get(ending)?.map((member) => this.#describe(member));
        this.#finish(ending, found ?? [unseen(ending)]);
      }
    });
  }

  #lend(work: () => void): void {
    if (this.#deps.lend === undefined) work();
    else this.#deps.lend(work);
  }

  #lookIn(ms: number): void {
    this.#soon ??= this.#deps.clock.timer(ms, () => {
      this.#soon = undefined;
      this.#lend(() => this.#look());
    });
  }

  #look(): void {
    const members = this.#findAll();
    const now = this.#deps.clock.monotonic();
    if (members === undefined) {
      this.#waitForSight(now);
      return;
    }
    this.#blindLooks = 0;
    let again = false;
    for (const [ending, found] of members) again = this.#step(ending, found, now) || again;
    if (again) this.#lookIn(0);
    this.#armDeadline(now);
  }

  /** Undefined when the process table could not be read: that nobody was seen means nothing then. */
  #findAll(): Map<Ending, readonly ProcessStat[]> | undefined {
    try {
      const snapshot = this.#deps.look();
      return new Map([...this.#endings].map((ending) => [ending, ending.tree.find(snapshot)]));
    } catch (error) {
      this.#blindLooks += 1;
      // The next ones fail for the same reason.
      if (this.#blindLooks === 1) this.#deps.onError(error);
      return undefined;
    }
  }

  /** Ever more rarely, and for nobody longer than an end takes that is seen. */
  #waitForSight(now: number): void {
    for (const ending of [...this.#endings])
      if (now >= ending.blind_until) this.#finish(ending, [unseen(ending)]);
    if (this.#endings.size === 0) return;
    const pause = Math.min(LOOK_AGAIN_LONGEST_MS, LOOK_AGAIN_MS * 2 ** (this.#blindLooks - 1));
    const ends = [...this.#endings].map(({ blind_until }) => blind_until - now);
    this.#lookIn(Math.min(pause, ...ends));
  }

  /** True when another look is wanted at once. */
  #step(ending: Ending, members: readonly ProcessStat[], now: number): boolean {
    if (members.length === 0) {
      ending.emptyLooks += 1;
      // A process that the look could not see must not outlive the session; the next look confirms it.
      if (ending.emptyLooks < 2) ending.tree.killGroup();
      else this.#finish(ending, []);
      return ending.emptyLooks < 2;
    }
    ending.emptyLooks = 0;
    switch (ending.phase.kind) {
      case "asked":
        for (const member of members) this.#hangUp(member);
        ending.phase = { kind: "grace" };
        ending.deadline = now + ending.grace_ms;
        return ending.grace_ms <= 0;
      case "grace":
        if (now < ending.deadline) return false;
        ending.tree.killGroup();
        ending.phase = { kind: "stopping", stopped: new Map(), rounds: 0 };
        ending.deadline = now + STOP_MS;
        return true;
      case "stopping":
        return this.#stop(ending, members, now);
      case "killing":
        if (now >= ending.deadline)
          this.#finish(
            ending,
            members.map((member) => this.#describe(member)),
          );
        // A process may have been forked between the last STOP and the KILL.
        else this.#kill(ending, members);
        return false;
    }
  }

  #stop(ending: Ending, members: readonly ProcessStat[], now: number): boolean {
    if (ending.phase.kind !== "stopping") return false;
    const { stopped } = ending.phase;
    const fresh = members.filter(
      (member) => stopped.get(member.pid)?.start_time !== member.start_time,
    );
    for (const member of fresh) {
      stopped.set(member.pid, member);
      this.#deps.send(member, "SIGSTOP");
    }
    ending.phase.rounds += 1;
    const isOver = ending.phase.rounds >= STOP_ROUNDS || now >= ending.deadline;
    if (fresh.length > 0 && !isOver) return true;
    this.#kill(ending, stopped.values());
    ending.phase = { kind: "killing" };
    ending.deadline = now + this.#deps.kill_limit_ms;
    return true;
  }

  #kill(ending: Ending, members: Iterable<ProcessStat>): void {
    for (const member of members) this.#deps.send(member, "SIGKILL");
    ending.tree.hunt?.();
  }

  #hangUp(member: ProcessStat): void {
    this.#deps.send(member, "SIGHUP");
    // A stopped process gets its HUP only when it runs again.
    this.#deps.send(member, "SIGCONT");
  }

  /** A process that was seen is named, also when nothing more can be read about it. */
  #describe(member: ProcessStat): Survivor {
    try {
      return this.#deps.describe(member);
    } catch {
      return { pid: member.pid, uid: -1, command: member.name, why: UNSEEN };
    }
  }

  #finish(ending: Ending, survivors: readonly Survivor[]): void {
    this.#endings.delete(ending);
    ending.done(survivors);
  }

  #armDeadline(now: number): void {
    this.#deadline?.[Symbol.dispose]();
    this.#deadline = undefined;
    const { poll_ms = Number.POSITIVE_INFINITY, clock } = this.#deps;
    const waits = [...this.#endings]
      .map((ending) => Math.min(ending.deadline - now, poll_ms))
      .filter((ms) => ms > 0);
    if (waits.length === 0) return;
    this.#deadline = clock.timer(Math.min(...waits), () => this.#lookIn(0));
  }
}

/** That nobody was seen is no word for nobody being there. */
function unseen({ tree }: Ending): Survivor {
  return { pid: tree.root_pid, uid: -1, command: "", why: UNSEEN };
}
