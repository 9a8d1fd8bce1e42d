import { closeSync, openSync, readSync } from "node:fs";
import { Fault } from "#contract/fault.ts";
import { type Libc, O_NOCTTY, O_NONBLOCK, O_RDWR } from "./libc.ts";

/**
 * Tries every call once, on a terminal of its own, before the first session: on a system where one of them is
 * missing or means something else we answer `unsupported_os` instead of crashing under somebody's work.
 */
export function selfTest(libc: Libc): void {
  using stack = new DisposableStack();
  const own = (fd: number) => {
    if (!Number.isSafeInteger(fd) || fd < 0) throw new Error(`${fd} is no descriptor`);
    return stack.adopt(fd, closeSync);
  };
  try {
    const master = own(libc.openPtyMaster());
    // Non-blocking, because a read must not wait for what a broken write never wrote.
    const slave = own(openSync(libc.unlockPty(master), O_RDWR | O_NOCTTY | O_NONBLOCK));
    const copy = own(libc.duplicate(master));
    libc.setKept(copy, true);
    libc.setKept(copy, false);
    libc.setUtf8(slave);
    libc.setSize(master, 80, 24);
    const line = Buffer.from("reins\n");
    expectEqual(libc.write(master, line), line.length, "write");
    // In cooked mode a whole line is there to be read at once.
    const read = Buffer.alloc(line.length);
    expectEqual(readSync(slave, read), line.length, "read");
    expectEqual(read.compare(line), 0, "read");
    const [readEnd, writeEnd] = libc.openPipe();
    own(readEnd);
    own(writeEnd);
    libc.setNonBlocking(readEnd);
    if (libc.pipeBytes(readEnd) <= 0) throw new Error("fcntl gave no pipe size");
    libc.limitMark.read();
  } catch (error) {
    throw new Fault("unsupported_os", "this system's libc does not work as Reins needs it", {
      details: { platform: process.platform, arch: process.arch, problem: String(error) },
      cause: error,
    });
  }
}

function expectEqual(found: number, wanted: number, call: string): void {
  if (found !== wanted) throw new Error(`${call} gave ${found} instead of ${wanted}`);
}
