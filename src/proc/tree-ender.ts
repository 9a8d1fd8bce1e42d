import type { Clock } from "#base/clock.ts";
import type { Survivor } from "#contract/session-state.ts";
import type { ProcessStat } from "./identity.ts";
import type { Snapshot } from "./process-table.ts";
import { describeSurvivor, sendSignal } from "./signal-process.ts";

/**
 * Ends trees of processes, any number at once, all from the same looks at the process table:
 *
 *   asked ──HUP, CONT──> grace ──time is over──> stopping ──nobody new──> killing ──nobody left, or time over──> done
 *                          └────────────── nobody left, twice in a row ─────────────────────────────────────────^
 *
 * `stopping` sends STOP to members until a look shows no new one, so that nobody can fork away from the KILL that
 * follows. A cgroup does that part in one write; the looks then only confirm it.
 */
export interface EndingTree {
  find(snapshot: Snapshot): readonly ProcessStat[];
  /** Ends what is in the session's cgroup, where there is one. */
  killGroup(): void;
}

export interface TreeEnderDeps {
  readonly clock: Clock;
  readonly look: () => Snapshot;
  /** Calls back after deaths that the host can see; as a subreaper it sees the last one of every tree. */
  readonly onDeath: (listener: () => void) => Disposable;
  readonly kill_limit_ms: number;
}

type Phase =
  | { readonly kind: "asked" }
  | { readonly kind: "grace" }
  | { readonly kind: "stopping"; readonly stopped: Map<number, ProcessStat> }
  | { readonly kind: "killing" };

interface Ending {
  readonly tree: EndingTree;
  readonly grace_ms: number;
  readonly done: (survivors: readonly Survivor[]) => void;
  phase: Phase;
  deadline: number;
  emptyLooks: number;
}

/** Deaths come in bursts; one look serves those of so many ms. */
const LOOK_EVERY_MS = 5;
/** Whoever forks faster than this many looks is killed as it is. */
const STOP_ROUNDS = 50;

export class TreeEnder implements Disposable {
  readonly #deps: TreeEnderDeps;
  readonly #endings = new Set<Ending>();
  readonly #deaths: Disposable;
  #soon: Disposable | undefined;
  #deadline: Disposable | undefined;
  #stopRounds = 0;

  constructor(deps: TreeEnderDeps) {
    this.#deps = deps;
    this.#deaths = deps.onDeath(() => {
      if (this.#endings.size > 0) this.#lookIn(LOOK_EVERY_MS);
    });
  }

  end(tree: EndingTree, graceMs: number): Promise<readonly Survivor[]> {
    const { promise, resolve } = Promise.withResolvers<readonly Survivor[]>();
    this.#endings.add({
      tree,
      grace_ms: graceMs,
      done: resolve,
      phase: { kind: "asked" },
      deadline: 0,
      emptyLooks: 0,
    });
    this.#lookIn(0);
    return promise;
  }

  [Symbol.dispose](): void {
    this.#deaths[Symbol.dispose]();
    this.#soon?.[Symbol.dispose]();
    this.#deadline?.[Symbol.dispose]();
  }

  #lookIn(ms: number): void {
    this.#soon ??= this.#deps.clock.timer(ms, () => this.#look());
  }

  #look(): void {
    this.#soon = undefined;
    const snapshot = this.#deps.look();
    const now = this.#deps.clock.monotonic();
    let again = false;
    for (const ending of [...this.#endings])
      again = this.#step(ending, ending.tree.find(snapshot), now) || again;
    this.#stopRounds = [...this.#endings].some((ending) => ending.phase.kind === "stopping")
      ? this.#stopRounds + 1
      : 0;
    if (again) this.#lookIn(0);
    this.#armDeadline(now);
  }

  /** True when another look is wanted at once. */
  #step(ending: Ending, members: readonly ProcessStat[], now: number): boolean {
    if (members.length === 0) {
      ending.emptyLooks += 1;
      if (ending.emptyLooks >= 2) this.#finish(ending, []);
      return ending.emptyLooks < 2;
    }
    ending.emptyLooks = 0;
    switch (ending.phase.kind) {
      case "asked":
        for (const member of members) hangUp(member);
        ending.phase = { kind: "grace" };
        ending.deadline = now + ending.grace_ms;
        return false;
      case "grace":
        if (now < ending.deadline) return false;
        ending.tree.killGroup();
        ending.phase = { kind: "stopping", stopped: new Map() };
        return true;
      case "stopping":
        return this.#stop(ending, ending.phase.stopped, { members, now });
      case "killing":
        if (now >= ending.deadline) this.#finish(ending, members.map(describeSurvivor));
        return false;
    }
  }

  #stop(
    ending: Ending,
    stopped: Map<number, ProcessStat>,
    { members, now }: { readonly members: readonly ProcessStat[]; readonly now: number },
  ): boolean {
    const fresh = members.filter(
      (member) => stopped.get(member.pid)?.start_time !== member.start_time,
    );
    for (const member of fresh) {
      stopped.set(member.pid, member);
      sendSignal(member, "SIGSTOP");
    }
    if (fresh.length > 0 && this.#stopRounds < STOP_ROUNDS) return true;
    for (const member of stopped.values()) sendSignal(member, "SIGKILL");
    ending.phase = { kind: "killing" };
    ending.deadline = now + this.#deps.kill_limit_ms;
    return true;
  }

  #finish(ending: Ending, survivors: readonly Survivor[]): void {
    this.#endings.delete(ending);
    ending.done(survivors);
  }

  #armDeadline(now: number): void {
    this.#deadline?.[Symbol.dispose]();
    this.#deadline = undefined;
    const deadlines = [...this.#endings]
      .map((ending) => ending.deadline)
      .filter((deadline) => deadline > now);
    if (deadlines.length === 0) return;
    this.#deadline = this.#deps.clock.timer(Math.min(...deadlines) - now, () => this.#lookIn(0));
  }
}

function hangUp(member: ProcessStat): void {
  sendSignal(member, "SIGHUP");
  // A stopped process gets its HUP only when it runs again.
  sendSignal(member, "SIGCONT");
}
