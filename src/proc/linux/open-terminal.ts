import { openSync } from "node:fs";
import type { HandedWiring, TerminalSize } from "#proc/child.ts";
import { InputQueue } from "#proc/input-queue.ts";
import type { Wiring } from "#proc/process-child.ts";
import { Descriptor } from "./descriptor.ts";
import { O_NOCTTY, O_RDWR } from "./libc.ts";
import {
  handInput,
  joinOutputs,
  type LinuxWiring,
  type LinuxWiringDeps,
  takeInput,
  writeNow,
} from "./linux-wiring.ts";
import { OutputStream } from "./output-stream.ts";

/** A terminal holds 64 KiB in its buffers and 4 KiB in its line discipline; twice that is on the safe side. */
const TERMINAL_KERNEL_BYTES = 160 * 1024;
const END_OF_FILE = Uint8Array.of(4);

export function openTerminal(deps: LinuxWiringDeps, size: TerminalSize): LinuxWiring {
  const { libc } = deps;
  using stack = new DisposableStack();
  const master = libc.openPtyMaster();
  const source = stack.use(new Descriptor(master));
  const path = libc.unlockPty(master);
  // Held until the exit, so that the terminal is never hung up under bytes that were not read yet.
  const slaveFd = openSync(path, O_RDWR | O_NOCTTY);
  const slave = stack.use(new Descriptor(slaveFd));
  libc.setSize(master, size.cols, size.rows);
  libc.setUtf8(slaveFd);
  const wiring = wireTerminal(deps, { source, slave });
  stack.move();
  return {
    ...wiring,
    actions: [
      // The leader of a session gets the first terminal that it opens as its controlling one.
      { kind: "open", fd: 0, path, flags: O_RDWR },
      { kind: "dup", from: 0, to: 1 },
      { kind: "dup", from: 0, to: 2 },
    ],
    started: () => undefined,
  };
}

/** A terminal that the program before us has opened. */
export function adoptTerminal(deps: LinuxWiringDeps, handed: HandedWiring): Wiring {
  using stack = new DisposableStack();
  const own = (fd: number) => stack.use(new Descriptor(fd));
  const [output] = handed.outputs;
  const slave = handed.slave === null ? undefined : own(handed.slave);
  const source = output === undefined ? undefined : own(output.fd);
  const wiring = wireTerminal(deps, { source, slave });
  stack.move();
  takeInput(wiring.input, handed);
  return wiring;
}

interface Ends {
  /** Undefined when nobody holds the other end any more. */
  readonly source: Descriptor | undefined;
  readonly slave: Descriptor | undefined;
}

/** Owns both ends from its return on. */
function wireTerminal({ libc, clock }: LinuxWiringDeps, { source, slave }: Ends): Wiring {
  using stack = new DisposableStack();
  const stream = source && openStream({ libc, clock }, stack, source);
  const input = stack.use(
    new InputQueue({
      clock,
      write: (bytes) => (source === undefined ? "gone" : writeNow(libc, source, bytes)),
      end: () => undefined,
    }),
  );
  stack.defer(() => slave?.[Symbol.dispose]());
  const outputs = stream === undefined ? [] : [{ channel: "stdout" as const, stream }];
  const owned = stack.move();
  return {
    ...joinOutputs(outputs),
    input,
    // A character among others: whoever reads next goes on reading.
    endInput: () => input.push(END_OF_FILE),
    resize({ cols, rows }) {
      if (source?.fd !== undefined) libc.setSize(source.fd, cols, rows);
    },
    foregroundGroup: () => (source?.fd === undefined ? undefined : libc.foregroundGroup(source.fd)),
    exited: () => slave?.[Symbol.dispose](),
    handOver: () => ({
      terminal: true,
      outputs: source?.fd === undefined ? [] : [{ channel: "stdout", fd: source.fd }],
      slave: slave?.fd ?? null,
      stdin: null,
      ...handInput(input),
    }),
    [Symbol.dispose]: () => owned.dispose(),
  };
}

function openStream(
  { libc }: LinuxWiringDeps,
  stack: DisposableStack,
  source: Descriptor,
): OutputStream {
  const loop = stack.use(new Descriptor(libc.duplicate(source.fd ?? -1)));
  return stack.use(
    new OutputStream({
      source,
      loop,
      terminal: true,
      read: libc.read,
      kernelBytes: () => TERMINAL_KERNEL_BYTES,
    }),
  );
}
