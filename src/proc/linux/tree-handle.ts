import type { Survivor } from "#contract/session-state.ts";
import type { ProcessStat } from "#proc/identity.ts";
import type { ProcessTable, Snapshot } from "#proc/process-table.ts";
import { sendSignal } from "#proc/signal-process.ts";
import { findTree, type TreeMarks } from "#proc/tree.ts";
import type { TreeEnder } from "#proc/tree-ender.ts";
import type { Cgroup } from "./cgroup.ts";

export interface TreeHandleDeps {
  readonly marks: TreeMarks;
  readonly cgroup: Cgroup | undefined;
  readonly table: ProcessTable;
  readonly ender: TreeEnder;
}

/** Everything that one child has started, as far as it can be found. */
export class TreeHandle {
  readonly #deps: TreeHandleDeps;

  constructor(deps: TreeHandleDeps) {
    this.#deps = deps;
  }

  count(): number {
    return this.#find(this.#deps.table.snapshot()).length;
  }

  signal(signal: NodeJS.Signals): number {
    return this.#find(this.#deps.table.fresh()).filter((member) => sendSignal(member, signal))
      .length;
  }

  async end(graceMs: number): Promise<readonly Survivor[]> {
    const survivors = await this.#deps.ender.end(
      { find: (snapshot) => this.#find(snapshot), killGroup: () => void this.#deps.cgroup?.kill() },
      graceMs,
    );
    this.release();
    return survivors;
  }

  /** Removes the cgroup if nobody is in it. */
  release(): void {
    this.#deps.cgroup?.remove();
  }

  #find(snapshot: Snapshot): ProcessStat[] {
    const { marks, cgroup } = this.#deps;
    const members = findTree(snapshot, marks, process.pid);
    const known = new Set(members.map((member) => member.pid));
    const inGroup = new Set(cgroup?.pids() ?? []);
    const others = snapshot.processes.filter(
      (entry) => inGroup.has(entry.pid) && !known.has(entry.pid),
    );
    return [...members, ...others];
  }
}
