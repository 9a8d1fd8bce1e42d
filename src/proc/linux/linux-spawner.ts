import { openSync, writeFileSync } from "node:fs";
import type { Clock } from "#base/clock.ts";
import { errnoOf } from "#base/errno.ts";
import type { Cgroup, Cgroups } from "#proc/cgroup/cgroup.ts";
import { joinCgroup } from "#proc/cgroup/join-cgroup.ts";
import type { Child, ChildListener, ChildSpec, Spawner } from "#proc/child.ts";
import { checkSpec, resolveExecutable, spawnFault } from "#proc/executable.ts";
import { identify } from "#proc/identity.ts";
import { ProcessChild } from "#proc/process-child.ts";
import type { ProcessTable } from "#proc/process-table.ts";
import type { TreeEnder } from "#proc/tree-ender.ts";
import { withUmask } from "#proc/umask.ts";
import type { Adopted } from "./adopted.ts";
import { Descriptor } from "./descriptor.ts";
import type { Libc } from "./libc.ts";
import type { LimitMarks } from "./limit-marks.ts";
import type { LinuxWiring } from "./linux-wiring.ts";
import { withOpenFiles } from "./open-files.ts";
import { openPipes } from "./open-pipes.ts";
import { openTerminal } from "./open-terminal.ts";
import type { PosixSpawn, SpawnRequest } from "./posix-spawn.ts";
import type { Reaper } from "./reaper.ts";
import { createSessionTree } from "./session-tree.ts";

interface LinuxSpawnerDeps {
  readonly libc: Libc;
  readonly posixSpawn: PosixSpawn;
  readonly reaper: Reaper;
  readonly table: ProcessTable;
  readonly ender: TreeEnder;
  readonly clock: Clock;
  readonly cgroups: Cgroups | undefined;
  readonly adopted: Adopted | undefined;
  readonly marks: LimitMarks;
  /** The one place where a sandbox or another user can be put around every child. */
  readonly wrap: (argv: readonly string[]) => readonly string[];
  readonly onError: (error: unknown) => void;
}

/** So that the kernel, short of memory, takes the build and not the host. */
const OOM_SCORE = "500";

export function createLinuxSpawner(deps: LinuxSpawnerDeps): Pick<Spawner, "spawn"> {
  return {
    spawn(spec, listener) {
      const argv = deps.wrap(spec.argv);
      checkSpec({ ...spec, argv });
      const program = resolveExecutable(argv[0] ?? "", spec.env, spec.work_dir);
      // Whatever fails between here and the child takes its descriptors and its cgroup along.
      using stack = new DisposableStack();
      const wiring = stack.use(attempt(argv, () => openWiring(deps, spec)));
      // The look at the new process takes one; it must not fail when the program already runs.
      const spare = stack.use(attempt(argv, () => new Descriptor(openSync("/dev/null", "r"))));
      const cgroup = stack.adopt(openCgroup(deps, spec), (made) => made?.remove());
      const child = start(deps, { spec, listener, argv, program, wiring, cgroup, spare });
      stack.move();
      return child;
    },
  };
}

function openWiring(deps: LinuxSpawnerDeps, spec: ChildSpec): LinuxWiring {
  return spec.size === undefined ? openPipes(deps, spec) : openTerminal(deps, spec.size);
}

/** A failure to get descriptors is a failure to spawn. */
function attempt<T>(argv: readonly string[], run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw spawnFault(argv[0] ?? "", errnoOf(error) ?? "EIO", error);
  }
}

function openCgroup(deps: LinuxSpawnerDeps, spec: ChildSpec): Cgroup | undefined {
  if (spec.brief === true) return undefined;
  try {
    return deps.cgroups?.open(spec.session_id);
  } catch {
    // Without one the tree is still found by its marks.
    return undefined;
  }
}

interface Start {
  readonly spec: ChildSpec;
  readonly listener: ChildListener;
  readonly argv: readonly string[];
  readonly program: string;
  readonly wiring: LinuxWiring;
  readonly cgroup: Cgroup | undefined;
  readonly spare: Descriptor;
}

function start(deps: LinuxSpawnerDeps, options: Start): Child {
  const { spec, argv, wiring, spare } = options;
  const mark = spec.limit_mark ?? deps.marks.next();
  const during: SpawnRequest["during"] = (run) =>
    deps.marks.during(mark, () =>
      withUmask(spec.umask, () => withOpenFiles(deps.libc, spec.open_files, run)),
    );
  const result = attempt(argv, () => deps.posixSpawn({ ...createRequest(options), during }));
  if (!result.ok) throw spawnFault(argv[0] ?? "", result.errno);
  const { pid } = result;
  spare[Symbol.dispose]();
  try {
    const child = adopt(deps, options, { pid, mark });
    wiring.started();
    child.start();
    deps.reaper.watch(pid, (status) => child.onReaped(status));
    return child;
  } catch (error) {
    // Nobody will ever hear of it, so it must not go on; the reaper takes what is left of it.
    deps.reaper.watch(pid, () => undefined);
    process.kill(pid, "SIGKILL");
    throw spawnFault(argv[0] ?? "", errnoOf(error) ?? "EIO", error);
  }
}

function createRequest({
  spec,
  argv,
  program,
  wiring,
  cgroup,
}: Start): Omit<SpawnRequest, "during"> {
  // As a shell and every program that trusts it expect.
  const env = { ...spec.env, PWD: spec.work_dir };
  const joined = cgroup && joinCgroup({ procs: cgroup.procs, argv, program, env });
  return {
    path: joined?.[0] ?? program,
    argv: joined ?? argv,
    env,
    work_dir: spec.work_dir,
    actions: wiring.actions,
  };
}

function adopt(
  deps: LinuxSpawnerDeps,
  { spec, listener, wiring, cgroup }: Start,
  { pid, mark }: { readonly pid: number; readonly mark: number | undefined },
): ProcessChild {
  raiseOomScore(pid);
  const identity = identify(pid);
  const tree = createSessionTree({
    marks: { session_id: spec.session_id, root: identity, limit_mark: mark },
    cgroup,
    adopted: deps.adopted,
    table: deps.table,
    ender: deps.ender,
  });
  return new ProcessChild({
    identity,
    limit_mark: mark,
    listener,
    tree,
    wiring,
    onError: deps.onError,
  });
}

function raiseOomScore(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, OOM_SCORE);
  } catch {
    // It has exited already, or this system does not let us: the child runs all the same.
  }
}
