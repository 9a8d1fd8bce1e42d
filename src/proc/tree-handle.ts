import type { Survivor } from "#contract/session-state.ts";
import type { ProcessStat } from "./identity.ts";
import type { ProcessTable, Snapshot } from "./process-table.ts";
import type { EndingTree, TreeEnder } from "./tree-ender.ts";

interface TreeHandleDeps extends EndingTree {
  readonly table: ProcessTable;
  readonly ender: TreeEnder;
  readonly send: (member: ProcessStat, signal: NodeJS.Signals) => boolean;
  /** Gives back what is kept for the tree, if nobody is in it. */
  release(): void;
  /** Whether the kernel keeps a group for it. */
  readonly hasGroup?: boolean;
}

/** Everything that one child has started, as far as the platform lets it be found. */
export class TreeHandle {
  readonly #deps: TreeHandleDeps;

  constructor(deps: TreeHandleDeps) {
    this.#deps = deps;
  }

  get hasGroup(): boolean {
    return this.#deps.hasGroup ?? false;
  }

  count(): number {
    return this.find(this.#deps.table.snapshot()).length;
  }

  signal(signal: NodeJS.Signals): number {
    const members = this.find(this.#deps.table.fresh());
    return members.filter((member) => this.#deps.send(member, signal)).length;
  }

  async end(graceMs: number): Promise<readonly Survivor[]> {
    const survivors = await this.#deps.ender.end(this.#deps, graceMs);
    this.release();
    return survivors;
  }

  find(snapshot: Snapshot): readonly ProcessStat[] {
    return this.#deps.find(snapshot);
  }

  release(): void {
    this.#deps.release();
  }
}
