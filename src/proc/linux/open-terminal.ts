import { openSync } from "node:fs";
import type { TerminalSize } from "#proc/child.ts";
import { InputQueue } from "#proc/input-queue.ts";
import { Descriptor } from "./descriptor.ts";
import { O_NOCTTY, O_RDWR } from "./libc.ts";
import { joinOutputs, type LinuxWiring, type LinuxWiringDeps, writeNow } from "./linux-wiring.ts";
import { OutputStream } from "./output-stream.ts";

/** A terminal holds 64 KiB in its buffers and 4 KiB in its line discipline; twice that is on the safe side. */
const TERMINAL_KERNEL_BYTES = 160 * 1024;
const END_OF_FILE = Uint8Array.of(4);

export function openTerminal({ libc, clock }: LinuxWiringDeps, size: TerminalSize): LinuxWiring {
  using stack = new DisposableStack();
  const own = (fd: number) => stack.use(new Descriptor(fd));
  const master = libc.openPtyMaster();
  const source = own(master);
  const path = libc.unlockPty(master);
  // Held until the exit, so that the terminal is never hung up under bytes that were not read yet.
  const slaveFd = openSync(path, O_RDWR | O_NOCTTY);
  const slave = own(slaveFd);
  const loop = own(libc.duplicate(master));
  libc.setSize(master, size.cols, size.rows);
  libc.setUtf8(slaveFd);
  const stream = stack.use(
    new OutputStream({
      source,
      loop,
      terminal: true,
      read: libc.read,
      kernelBytes: () => TERMINAL_KERNEL_BYTES,
    }),
  );
  const input = stack.use(
    new InputQueue({
      clock,
      write: (bytes) => writeNow(libc, source, bytes),
      end: () => undefined,
    }),
  );
  const owned = stack.move();
  return {
    ...joinOutputs([{ channel: "stdout", stream }]),
    actions: [
      // The leader of a session gets the first terminal that it opens as its controlling one.
      { kind: "open", fd: 0, path, flags: O_RDWR },
      { kind: "dup", from: 0, to: 1 },
      { kind: "dup", from: 0, to: 2 },
    ],
    input,
    // A character among others: whoever reads next goes on reading.
    endInput: () => input.push(END_OF_FILE),
    resize({ cols, rows }) {
      if (source.fd !== undefined) libc.setSize(source.fd, cols, rows);
    },
    foregroundGroup: () => (source.fd === undefined ? undefined : libc.foregroundGroup(source.fd)),
    started: () => undefined,
    exited: () => slave[Symbol.dispose](),
    [Symbol.dispose]: () => owned.dispose(),
  };
}
