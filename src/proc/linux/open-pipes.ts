import type { Channel, ChildSpec, HandedWiring } from "#proc/child.ts";
import { InputQueue } from "#proc/input-queue.ts";
import type { Wiring } from "#proc/process-child.ts";
import { Descriptor } from "./descriptor.ts";
import { type Libc, O_RDONLY } from "./libc.ts";
import {
  handInput,
  joinOutputs,
  type LinuxWiring,
  type LinuxWiringDeps,
  takeInput,
  writeNow,
} from "./linux-wiring.ts";
import { OutputStream } from "./output-stream.ts";
import type { FileAction } from "./posix-spawn.ts";

export function openPipes(
  deps: LinuxWiringDeps,
  options: Pick<ChildSpec, "stdin" | "merged">,
): LinuxWiring {
  const { libc } = deps;
  using stack = new DisposableStack();
  const outputs = openOutputs(libc, stack, options);
  const stdin = options.stdin ? openInput(libc, stack) : undefined;
  const wiring = wirePipes(deps, { outputs, stdin: stdin?.ours });
  const owned = stack.move();
  return {
    ...wiring,
    actions: [
      stdin?.action ?? { kind: "open", fd: 0, path: "/dev/null", flags: O_RDONLY },
      ...outputs.flatMap((output) => output.actions),
    ],
    started() {
      for (const end of [stdin, ...outputs]) end?.theirs[Symbol.dispose]();
    },
    [Symbol.dispose]() {
      wiring[Symbol.dispose]();
      owned.dispose();
    },
  };
}

/** Pipes that the program before us has opened. */
export function adoptPipes(deps: LinuxWiringDeps, handed: HandedWiring): Wiring {
  using stack = new DisposableStack();
  const own = (fd: number) => stack.use(new Descriptor(fd));
  const stdin = handed.stdin === null ? undefined : own(handed.stdin);
  const sources = handed.outputs.map(({ channel, fd }) => ({ channel, source: own(fd) }));
  const outputs = sources.map(({ channel, source }) => ({
    channel,
    stream: openStream(deps.libc, stack, source),
  }));
  const wiring = wirePipes(deps, { outputs, stdin });
  stack.move();
  takeInput(wiring.input, handed);
  return wiring;
}

interface Ends {
  readonly outputs: readonly { readonly channel: Channel; readonly stream: OutputStream }[];
  readonly stdin: Descriptor | undefined;
}

/** Owns the ends from its return on. */
function wirePipes({ libc, clock }: LinuxWiringDeps, { outputs, stdin }: Ends): Wiring {
  const closeInput = () => stdin?.[Symbol.dispose]();
  const input = new InputQueue({
    clock,
    write: (bytes) => (stdin === undefined ? "gone" : writeNow(libc, stdin, bytes)),
    end: closeInput,
  });
  return {
    ...joinOutputs(outputs),
    input,
    endInput: () => input.end(),
    // Pipes have no size; the host refuses before it comes to this.
    resize: () => undefined,
    foregroundGroup: () => undefined,
    exited: closeInput,
    handOver: () => ({
      terminal: false,
      outputs: outputs.flatMap(({ channel, stream: { fd } }) =>
        fd === undefined ? [] : [{ channel, fd }],
      ),
      slave: null,
      stdin: stdin?.fd ?? null,
      ...handInput(input),
    }),
    [Symbol.dispose]() {
      input[Symbol.dispose]();
      closeInput();
      for (const { stream } of outputs) stream[Symbol.dispose]();
    },
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
  const stream = openStream(libc, stack, source);
  const actions = to.map((fd): FileAction => ({ kind: "dup", from: write, to: fd }));
  return { channel, theirs, actions, stream };
}

function openStream(libc: Libc, stack: DisposableStack, source: Descriptor): OutputStream {
  const loop = stack.use(new Descriptor(libc.duplicate(source.fd ?? -1)));
  // Asked for each time: the program may have its pipe enlarged.
  const kernelBytes = (fd: number) => libc.pipeBytes(fd);
  return stack.use(
    new OutputStream({ source, loop, terminal: false, read: libc.read, kernelBytes }),
  );
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
