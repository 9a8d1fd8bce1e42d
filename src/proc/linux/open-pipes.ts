import type { Channel, ChildSpec } from "#proc/child.ts";
import { InputQueue } from "#proc/input-queue.ts";
import { Descriptor } from "./descriptor.ts";
import { type Libc, O_RDONLY } from "./libc.ts";
import { joinOutputs, type LinuxWiring, type LinuxWiringDeps, writeNow } from "./linux-wiring.ts";
import { OutputStream } from "./output-stream.ts";
import type { FileAction } from "./posix-spawn.ts";

export function openPipes(
  { libc, clock }: LinuxWiringDeps,
  options: Pick<ChildSpec, "stdin" | "merged">,
): LinuxWiring {
  using stack = new DisposableStack();
  const outputs = openOutputs(libc, stack, options);
  const stdin = options.stdin ? openInput(libc, stack) : undefined;
  const closeInput = () => stdin?.ours[Symbol.dispose]();
  const input = stack.use(
    new InputQueue({
      clock,
      write: (bytes) => (stdin === undefined ? "gone" : writeNow(libc, stdin.ours, bytes)),
      end: closeInput,
    }),
  );
  const owned = stack.move();
  return {
    ...joinOutputs(outputs),
    actions: [
      stdin?.action ?? { kind: "open", fd: 0, path: "/dev/null", flags: O_RDONLY },
      ...outputs.flatMap((output) => output.actions),
    ],
    input,
    endInput: () => input.end(),
    // Pipes have no size; the host refuses before it comes to this.
    resize: () => undefined,
    foregroundGroup: () => undefined,
    started() {
      for (const end of [stdin, ...outputs]) end?.theirs[Symbol.dispose]();
    },
    exited: closeInput,
    [Symbol.dispose]: () => owned.dispose(),
  };
}

interface OutputEnd {
  readonly channel: Channel;
  readonly theirs: Descriptor;
  readonly actions: readonly FileAction[];
  readonly stream: OutputStream;
}

function openOutputs(
  libc: Libc,
  stack: DisposableStack,
  { merged = false }: Pick<ChildSpec, "merged">,
): readonly OutputEnd[] {
  if (merged) return [openOutput(libc, stack, { channel: "stdout", to: [1, 2] })];
  return [
    openOutput(libc, stack, { channel: "stdout", to: [1] }),
    openOutput(libc, stack, { channel: "stderr", to: [2] }),
  ];
}

function openOutput(
  libc: Libc,
  stack: DisposableStack,
  { channel, to }: { readonly channel: Channel; readonly to: readonly number[] },
): OutputEnd {
  const own = (fd: number) => stack.use(new Descriptor(fd));
  const [read, write] = libc.openPipe();
  const [source, theirs] = [own(read), own(write)];
  libc.setNonBlocking(read);
  const loop = own(libc.duplicate(read));
  // Asked for each time: the program may have its pipe enlarged.
  const kernelBytes = (fd: number) => libc.pipeBytes(fd);
  const stream = stack.use(
    new OutputStream({ source, loop, terminal: false, read: libc.read, kernelBytes }),
  );
  const actions = to.map((fd): FileAction => ({ kind: "dup", from: write, to: fd }));
  return { channel, theirs, actions, stream };
}

interface InputEnd {
  readonly theirs: Descriptor;
  readonly ours: Descriptor;
  readonly action: FileAction;
}

function openInput(libc: Libc, stack: DisposableStack): InputEnd {
  const [read, write] = libc.openPipe();
  const theirs = stack.use(new Descriptor(read));
  const ours = stack.use(new Descriptor(write));
  libc.setNonBlocking(write);
  return { theirs, ours, action: { kind: "dup", from: read, to: 0 } };
}
