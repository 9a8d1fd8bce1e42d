import { limits } from "#contract/limits.ts";
import { leaveSessionCgroup, openCgroups } from "#proc/cgroup/cgroup.ts";
import { readBootId } from "#proc/identity.ts";
import type { ProcessTable } from "#proc/process-table.ts";
import { describeSurvivor, sendSignal } from "#proc/signal-process.ts";
import { SpareDescriptor } from "#proc/spare-descriptor.ts";
import type { OpenSpawner, SpawnerOptions } from "#proc/spawner.ts";
import { TreeEnder } from "#proc/tree-ender.ts";
import { createAdopted } from "./adopted.ts";
import { endLeftovers } from "./end-leftovers.ts";
import { openLibc } from "./libc.ts";
import { openLimitMarks } from "./limit-marks.ts";
import { createLinuxSpawner } from "./linux-spawner.ts";
import { createPosixSpawn } from "./posix-spawn.ts";
import { Reaper } from "./reaper.ts";
import { selfTest } from "./self-test.ts";
import { createSuccession } from "./succession.ts";

const POLL_MS = 20;

export function openLinuxSpawner(options: SpawnerOptions, table: ProcessTable): OpenSpawner {
  using stack = new DisposableStack();
  const libc = openLibc();
  selfTest(libc);
  if (options.isHost) {
    leaveSessionCgroup();
    libc.becomeSubreaper();
  }
  const reaper = stack.use(
    new Reaper({
      libc,
      adoptsOrphans: options.isHost,
      expected: options.inherited?.pids,
      onError: options.onError,
    }),
  );
  const spare = stack.use(new SpareDescriptor());
  const ender = stack.use(
    new TreeEnder({
      clock: options.clock,
      look: () => table.fresh(),
      onDeath: (listener) => reaper.onDeath(listener),
      // Without the subreaper's part, orphans die unseen.
      poll_ms: options.isHost ? undefined : POLL_MS,
      kill_limit_ms: limits.tree_kill_ms,
      send: sendSignal,
      describe: describeSurvivor,
      onError: options.onError,
      lend: (work) => spare.lend(work),
    }),
  );
  const cgroups = options.cgroups === false ? undefined : openCgroups();
  if (cgroups !== undefined) stack.use(cgroups);
  const { clock, onError } = options;
  const adopted = options.isHost ? createAdopted(() => clock.monotonic()) : undefined;
  const shared = { libc, reaper, table, ender, clock, cgroups, adopted, onError };
  const marks = openLimitMarks(libc, options.inherited?.limit_marks);
  const spawner = createLinuxSpawner({
    ...shared,
    posixSpawn: createPosixSpawn(libc),
    marks,
    wrap: options.wrap ?? ((argv) => argv),
  });
  const succession = createSuccession(shared);
  const owned = stack.move();
  return {
    reserveMark() {
      const limit_mark = marks.next();
      return limit_mark === undefined ? undefined : { limit_mark, boot_id: readBootId() };
    },
    spawn: (spec, listener) => spawner.spawn(spec, listener),
    endLeftovers: (leftovers) => endLeftovers(ender, leftovers),
    adopt: succession.adopt,
    succession,
    [Symbol.dispose]: () => owned.dispose(),
  };
}
