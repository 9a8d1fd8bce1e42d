import type { Clock } from "#base/clock.ts";
import { Emitter } from "#base/emitter.ts";
import { limits } from "#contract/limits.ts";
import type { Survivor } from "#contract/session-state.ts";
import type { ChildSpec, Leftover } from "#proc/child.ts";
import type { ProcessIdentity, ProcessStat } from "#proc/identity.ts";
import { ProcessTable, type Snapshot } from "#proc/process-table.ts";
import { findUser, readBootSession, takePsSnapshot } from "#proc/ps.ts";
import { findTree, type TreeMarks } from "#proc/tree.ts";
import { TreeEnder } from "#proc/tree-ender.ts";
import { TreeHandle } from "#proc/tree-handle.ts";

interface DarwinTreesDeps {
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** While a tree is ended. */
const POLL_MS = 50;
/** While a session lives, so that who leaves its parents behind later is known already. */
const REMEMBER_MS = 5000;
const LEFTOVER_GRACE_MS = 100;

/**
 * Trees where there is no /proc: parent, group and session in one `ps`, and whoever was seen in an earlier one.
 * Weaker than on Linux and best effort: a process that leaves all three between two looks is not found.
 */
export class DarwinTrees implements Disposable {
  readonly #deps: DarwinTreesDeps;
  readonly #table = new ProcessTable(takePsSnapshot);
  readonly #deaths: Emitter<void>;
  readonly #ender: TreeEnder;
  readonly #open = new Set<TreeHandle>();
  readonly #released = new WeakSet<TreeHandle>();
  #timer: Disposable | undefined;

  constructor(deps: DarwinTreesDeps) {
    this.#deps = deps;
    this.#deaths = new Emitter(deps.onError);
    this.#ender = new TreeEnder({
      clock: deps.clock,
      look: () => this.#table.fresh(),
      onDeath: (listener) => this.#deaths.on(listener),
      poll_ms: POLL_MS,
      kill_limit_ms: limits.tree_kill_ms,
      send,
      describe,
      onError: deps.onError,
    });
  }

  open(spec: Pick<ChildSpec, "session_id">, root: ProcessIdentity): TreeHandle {
    const handle: TreeHandle = new TreeHandle({
      ...createMembers({ session_id: spec.session_id, root }),
      table: this.#table,
      ender: this.#ender,
      send,
      // A look at every exit would cost more than a handle that is kept until the next.
      release: () => void this.#released.add(handle),
    });
    this.#open.add(handle);
    this.#rememberLater();
    return handle;
  }

  /** A child of ours has died. */
  tellDeath(): void {
    this.#deaths.emit();
  }

  /** Only what still descends from a root that lives: without marks nobody else can be told from a stranger. */
  async endLeftovers(leftovers: readonly Leftover[]): Promise<readonly Survivor[]> {
    const roots = leftovers.flatMap(({ session_id, identity }) =>
      identity?.boot_id === readBootSession() ? [{ session_id, root: identity }] : [],
    );
    const endings = roots.map((marks) => this.#ender.end(createMembers(marks), LEFTOVER_GRACE_MS));
    return (await Promise.all(endings)).flat();
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#open.clear();
    this.#ender[Symbol.dispose]();
  }

  #rememberLater(): void {
    this.#timer ??= this.#deps.clock.timer(REMEMBER_MS, () => {
      this.#timer = undefined;
      for (const handle of this.#open)
        if (handle.count() === 0 && this.#released.has(handle)) this.#open.delete(handle);
      if (this.#open.size > 0) this.#rememberLater();
    });
  }
}

function createMembers(marks: TreeMarks) {
  const seen = new Map<number, number>();
  return {
    root_pid: marks.root.pid,
    find(snapshot: Snapshot): readonly ProcessStat[] {
      const members = findTree(snapshot, { ...marks, seen }, process.pid);
      seen.clear();
      for (const { pid, start_time } of members) seen.set(pid, start_time);
      return members;
    },
    killGroup: () => undefined,
  };
}

/** The look that found the member was taken in this very turn: that is as close to the signal as `ps` can get. */
function send({ pid }: ProcessStat, signal: NodeJS.Signals): boolean {
  if (pid <= 1 || pid === process.pid) return false;
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    // Gone in between, or another user's: who stays alive is named by `describe`.
    return false;
  }
}

function describe({ pid, name, state }: ProcessStat): Survivor {
  const uid = findUser(pid);
  const why =
    uid === process.getuid?.()
      ? `it is in state ${state} and did not end in time`
      : "it runs as another user";
  return { pid, uid, command: name, why };
}
