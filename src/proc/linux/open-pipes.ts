import { InputQueue } from "#proc/input-queue.ts";
import { Descriptor } from "./descriptor.ts";
import { type Libc, O_RDONLY } from "./libc.ts";
import { joinOutputs, type LinuxWiring, type LinuxWiringDeps, writeNow } from "./linux-wiring.ts";
import { OutputStream } from "./output-stream.ts";
import type { FileAction } from "./posix-spawn.ts";

export function openPipes(
  { libc, clock }: LinuxWiringDeps,
  options: { readonly stdin: boolean },
): LinuxWiring {
  using stack = new DisposableStack();
  const stdout = openOutput(libc, stack, 1);
  const stderr = openOutput(libc, stack, 2);
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
    ...joinOutputs([
      { channel: "stdout", stream: stdout.stream },
      { channel: "stderr", stream: stderr.stream },
    ]),
    actions: [
      stdin?.action ?? { kind: "open", fd: 0, path: "/dev/null", flags: O_RDONLY },
      stdout.action,
      stderr.action,
    ],
    input,
    endInput: () => input.end(),
    // Pipes have no size; the host refuses before it comes to this.
    resize: () => undefined,
    foregroundGroup: () => undefined,
    started() {
      for (const end of [stdin, stdout, stderr]) end?.theirs[Symbol.dispose]();
    },
    exited: closeInput,
    [Symbol.dispose]: () => owned.dispose(),
  };
}

interface ChildEnd {
  readonly theirs: Descriptor;
  readonly action: FileAction;
}

function openOutput(
  libc: Libc,
  stack: DisposableStack,
  to: number,
): ChildEnd & { readonly stream: OutputStream } {
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
  return { theirs, action: { kind: "dup", from: write, to }, stream };
}

function openInput(libc: Libc, stack: DisposableStack): ChildEnd & { readonly ours: Descriptor } {
  const [read, write] = libc.openPipe();
  const theirs = stack.use(new Descriptor(read));
  const ours = stack.use(new Descriptor(write));
  libc.setNonBlocking(write);
  return { theirs, ours, action: { kind: "dup", from: read, to: 0 } };
}
