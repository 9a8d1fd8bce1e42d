import type { Clock } from "#base/clock.ts";
import type { Cgroups } from "#proc/cgroup/cgroup.ts";
import type { Child, ChildListener, HandedChild, HandedWiring } from "#proc/child.ts";
import { ProcessChild, type Wiring } from "#proc/process-child.ts";
import type { ProcessTable } from "#proc/process-table.ts";
import type { Succession } from "#proc/spawner.ts";
import type { TreeEnder } from "#proc/tree-ender.ts";
import type { Adopted } from "./adopted.ts";
import { errnoError, type Libc } from "./libc.ts";
import type { LinuxWiringDeps } from "./linux-wiring.ts";
import { adoptPipes } from "./open-pipes.ts";
import { adoptTerminal } from "./open-terminal.ts";
import type { Reaper } from "./reaper.ts";
import { createSessionTree } from "./session-tree.ts";

interface SuccessionDeps {
  readonly libc: Libc;
  readonly clock: Clock;
  readonly reaper: Reaper;
  readonly table: ProcessTable;
  readonly ender: TreeEnder;
  readonly cgroups: Cgroups | undefined;
  readonly adopted: Adopted | undefined;
  readonly onError: (error: unknown) => void;
}

const STANDARD = [0, 1, 2];

export function createSuccession(deps: SuccessionDeps): Succession {
  const { libc } = deps;
  return {
    replace({ argv, env, keep }) {
      const kept: number[] = [];
      try {
        for (const fd of [...STANDARD, ...keep]) {
          libc.setKept(fd, true);
          kept.push(fd);
        }
        const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
        throw errnoError(libc.execute(argv[0] ?? "", argv, variables), "execve");
      } finally {
        for (const fd of kept) if (!STANDARD.includes(fd)) libc.setKept(fd, false);
      }
    },
    claim(descriptors) {
      for (const fd of descriptors) libc.setKept(fd, false);
    },
    adopt: (sessionId, handed, listener) => adoptChild(deps, { sessionId, handed, listener }),
  };
}

interface Adoption {
  readonly sessionId: string;
  readonly handed: HandedChild;
  readonly listener: ChildListener;
}

function adoptChild(deps: SuccessionDeps, { sessionId, handed, listener }: Adoption): Child {
  const { identity, state } = handed;
  const limit_mark = handed.limit_mark ?? undefined;
  const cgroup = handed.has_cgroup ? deps.cgroups?.adopt(sessionId) : undefined;
  const tree = createSessionTree({
    marks: { session_id: sessionId, root: identity, limit_mark },
    cgroup,
    adopted: deps.adopted,
    table: deps.table,
    ender: deps.ender,
  });
  using stack = new DisposableStack();
  try {
    const wiring = stack.use(adoptWiring(deps, handed.wiring));
    const child = new ProcessChild({
      identity,
      limit_mark,
      listener,
      tree,
      wiring,
      state,
      onError: deps.onError,
    });
    child.start();
    stack.move();
    if (state === "running") deps.reaper.watch(identity.pid, (status) => child.onReaped(status));
    return child;
  } catch (error) {
    // It is lost to us, and its number must not stay expected. Of one that was reaped it is somebody else's by now.
    if (state === "running") deps.reaper.watch(identity.pid, () => undefined);
    throw error;
  }
}

function adoptWiring(deps: LinuxWiringDeps, handed: HandedWiring | null): Wiring {
  const wired = handed ?? NOTHING;
  return wired.terminal ? adoptTerminal(deps, wired) : adoptPipes(deps, wired);
}

/** Of a child whose output has ended. */
const NOTHING: HandedWiring = {
  terminal: false,
  outputs: [],
  slave: null,
  stdin: null,
  input_b64: "",
  input_ending: false,
};
