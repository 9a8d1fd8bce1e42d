import { closeSync, openSync, writeFileSync } from "node:fs";
import type { Clock } from "#base/clock.ts";
import { errnoOf } from "#base/errno.ts";
import type { Channel, Child, ChildListener, ChildSpec, Spawner } from "#proc/child.ts";
import { checkWorkDir, resolveExecutable, spawnFault } from "#proc/executable.ts";
import { identify } from "#proc/identity.ts";
import { InputQueue, type WriteResult } from "#proc/input-queue.ts";
import type { ProcessTable } from "#proc/process-table.ts";
import type { TreeEnder } from "#proc/tree-ender.ts";
import type { Cgroup, Cgroups } from "./cgroup.ts";
import { type Libc, O_NOCTTY, O_RDONLY, O_RDWR } from "./libc.ts";
import type { LimitMarks } from "./limit-marks.ts";
import { LinuxChild, type Wiring } from "./linux-child.ts";
import { OutputStream } from "./output-stream.ts";
import type { FileAction, PosixSpawn } from "./posix-spawn.ts";
import type { Reaper } from "./reaper.ts";
import { TreeHandle } from "./tree-handle.ts";

export interface LinuxSpawnerDeps {
  readonly libc: Libc;
  readonly posixSpawn: PosixSpawn;
  readonly reaper: Reaper;
  readonly table: ProcessTable;
  readonly ender: TreeEnder;
  readonly clock: Clock;
  readonly cgroups: Cgroups | undefined;
  readonly marks: LimitMarks;
  /** The one place where a sandbox or another user can be put around every child. */
  readonly wrap: (argv: readonly string[]) => readonly string[];
}

/** So that the kernel, short of memory, takes the build and not the host. */
const OOM_SCORE = "500";
/** A terminal holds 64 KiB in its buffers and 4 KiB in its line discipline; twice that is on the safe side. */
const TERMINAL_KERNEL_BYTES = 160 * 1024;

export function createLinuxSpawner(deps: LinuxSpawnerDeps): Spawner {
  return {
    spawn(spec, listener) {
      checkWorkDir(spec.work_dir);
      // Whatever fails between here and the child takes its descriptors along.
      using stack = new DisposableStack();
      const plan =
        spec.size === undefined ? planPipes(deps, spec, stack) : planTerminal(deps, spec, stack);
      const child = start(deps, { spec, listener, plan, stack });
      stack.move();
      for (const fd of plan.childOnly) closeSync(fd);
      return child;
    },
  };
}

/** The descriptors of a child before it exists. */
interface Plan {
  readonly actions: readonly FileAction[];
  /** Closed in the host once the child has its own. */
  readonly childOnly: readonly number[];
  readonly wire: (output: OutputFor) => Wiring;
}

type OutputFor = (channel: Channel) => {
  readonly onBytes: (bytes: Buffer) => void;
  readonly onEnd: () => void;
};

function planTerminal(deps: LinuxSpawnerDeps, spec: ChildSpec, stack: DisposableStack): Plan {
  const { libc, clock } = deps;
  const owned = (fd: number) => stack.adopt(fd, closeSync);
  const master = owned(attempt(spec, () => libc.openPtyMaster()));
  const path = libc.unlockPty(master);
  // Held until the exit, so that the terminal is never hung up under bytes that were not read yet.
  const slave = owned(attempt(spec, () => openSync(path, O_RDWR | O_NOCTTY)));
  const loopFd = owned(attempt(spec, () => libc.duplicate(master)));
  if (spec.size !== undefined) libc.setSize(master, spec.size.cols, spec.size.rows);
  libc.setUtf8(slave);
  return {
    actions: [
      // The leader of a session gets the first terminal that it opens as its controlling one.
      { kind: "open", fd: 0, path, flags: O_RDWR },
      { kind: "dup", from: 0, to: 1 },
      { kind: "dup", from: 0, to: 2 },
    ],
    childOnly: [],
    wire: (output) => {
      let isHeld = true;
      const write = (bytes: Uint8Array) => writeNow(libc, master, bytes);
      const END_OF_FILE = Uint8Array.of(4);
      return {
        outputs: [
          new OutputStream({
            fd: master,
            loopFd,
            terminal: true,
            kernelBytes: TERMINAL_KERNEL_BYTES,
            ...output("stdout"),
          }),
        ],
        input: new InputQueue({ clock, write, end: () => void write(END_OF_FILE) }),
        resize: (size) => libc.setSize(master, size.cols, size.rows),
        foregroundGroup: () => libc.foregroundGroup(master),
        release: () => {
          if (isHeld) closeSync(slave);
          isHeld = false;
        },
      };
    },
  };
}

function planPipes(deps: LinuxSpawnerDeps, spec: ChildSpec, stack: DisposableStack): Plan {
  const { libc, clock } = deps;
  const openPipe = () => {
    const [read, write] = attempt(spec, () => libc.openPipe());
    return { read: stack.adopt(read, closeSync), write: stack.adopt(write, closeSync) };
  };
  const pipes = { stdout: openPipe(), stderr: openPipe() };
  const loopFds = { stdout: 0, stderr: 0 };
  for (const channel of ["stdout", "stderr"] as const) {
    libc.setNonBlocking(pipes[channel].read);
    loopFds[channel] = stack.adopt(
      attempt(spec, () => libc.duplicate(pipes[channel].read)),
      closeSync,
    );
  }
  const stdin = spec.stdin ? openPipe() : undefined;
  if (stdin !== undefined) libc.setNonBlocking(stdin.write);
  return {
    actions: [
      stdin === undefined
        ? { kind: "open", fd: 0, path: "/dev/null", flags: O_RDONLY }
        : { kind: "dup", from: stdin.read, to: 0 },
      { kind: "dup", from: pipes.stdout.write, to: 1 },
      { kind: "dup", from: pipes.stderr.write, to: 2 },
    ],
    childOnly: [
      pipes.stdout.write,
      pipes.stderr.write,
      ...(stdin === undefined ? [] : [stdin.read]),
    ],
    wire: (output) => {
      let inputFd = stdin?.write;
      const closeInput = () => {
        if (inputFd !== undefined) closeSync(inputFd);
        inputFd = undefined;
      };
      const outputOf = (channel: "stdout" | "stderr") =>
        new OutputStream({
          fd: pipes[channel].read,
          loopFd: loopFds[channel],
          terminal: false,
          kernelBytes: libc.pipeBytes(pipes[channel].read),
          ...output(channel),
        });
      return {
        outputs: [outputOf("stdout"), outputOf("stderr")],
        input: new InputQueue({
          clock,
          write: (bytes) => (inputFd === undefined ? "gone" : writeNow(libc, inputFd, bytes)),
          end: closeInput,
        }),
        // Pipes have no size; the host refuses before it comes to this.
        resize: () => undefined,
        foregroundGroup: () => 0,
        release: closeInput,
      };
    },
  };
}

interface Start {
  readonly spec: ChildSpec;
  readonly listener: ChildListener;
  readonly plan: Plan;
  readonly stack: DisposableStack;
}

function start(deps: LinuxSpawnerDeps, { spec, listener, plan, stack }: Start): Child {
  const argv = deps.wrap(spec.argv);
  const program = resolveExecutable(argv[0] ?? "", spec.env, spec.work_dir);
  const cgroup = stack.adopt(openCgroup(deps, spec), (made) => made?.remove());
  const joined = cgroup === undefined ? argv : [...cgroup.joiner, program, ...argv.slice(1)];
  const path = cgroup === undefined ? program : (cgroup.joiner[0] ?? program);
  const mark = deps.marks.next();
  const result = deps.marks.during(mark, () =>
    withUmask(spec.umask, () =>
      deps.posixSpawn({
        path,
        argv: joined,
        env: spec.env,
        work_dir: spec.work_dir,
        actions: plan.actions,
      }),
    ),
  );
  if (!result.ok) throw spawnFault(argv[0] ?? "", result.errno);
  raiseOomScore(result.pid);
  const identity = identify(result.pid);
  const tree = new TreeHandle({
    marks: { session_id: spec.session_id, root: identity, limit_mark: mark },
    cgroup,
    table: deps.table,
    ender: deps.ender,
  });
  const child = new LinuxChild({ identity, listener, tree, wire: plan.wire });
  deps.reaper.watch(result.pid, (status) => child.onReaped(status));
  return child;
}

function openCgroup(deps: LinuxSpawnerDeps, spec: ChildSpec): Cgroup | undefined {
  try {
    return deps.cgroups?.open(spec.session_id);
  } catch {
    // Without one the tree is still found by its marks.
    return undefined;
  }
}

/** posix_spawn is synchronous and our own files have explicit modes, so nobody else meets this umask. */
function withUmask<T>(umask: number | undefined, run: () => T): T {
  if (umask === undefined) return run();
  const before = process.umask(umask);
  try {
    return run();
  } finally {
    process.umask(before);
  }
}

function raiseOomScore(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, OOM_SCORE);
  } catch {
    // It has exited already, or this system does not let us: the child runs all the same.
  }
}

function writeNow(libc: Libc, fd: number, bytes: Uint8Array): WriteResult {
  const written = libc.write(fd, bytes);
  if (written > 0) return written;
  return written === -EAGAIN || written === -EINTR || written === 0 ? "full" : "gone";
}

const EAGAIN = 11;
const EINTR = 4;

/** A failure to get descriptors is a failure to spawn. */
function attempt<T>(spec: ChildSpec, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw spawnFault(spec.argv[0] ?? "", errnoOf(error) ?? "EIO");
  }
}
