import { constants } from "node:fs";
import { type LogIo, nodeIo } from "#log/log-io.ts";

/**
 * What happens to a call that would change the disk:
 * - `full`: no room. `part`: room for half of it. `broken`: another error of the device.
 * - `crash`: the process dies before the call. `torn`: it dies after half of the call.
 */
export type Trouble = "none" | "full" | "part" | "broken" | "crash" | "torn";

/** The death of the process, as far as one test can play it: no error of the disk, so nobody may catch it. */
export class Crash extends Error {}

/** The real file system with the trouble that `next` asks for, once a call. */
export function createFaultyIo(next: (call: keyof LogIo) => Trouble): LogIo {
  const meet = (call: keyof LogIo) => {
    const trouble = next(call);
    if (trouble === "crash") throw new Crash();
    if (trouble === "full") throw diskError("ENOSPC");
    if (trouble === "broken") throw diskError("EIO");
    return trouble;
  };
  /** For calls that happen or do not: there is no half of them. */
  const whole = (call: keyof LogIo) => {
    const trouble = meet(call);
    if (trouble === "part") throw diskError("ENOSPC");
    if (trouble === "torn") throw new Crash();
  };
  return {
    ...nodeIo,
    mkdirSync: (path, options) => {
      whole("mkdirSync");
      return nodeIo.mkdirSync(path, options);
    },
    openSync: (path, flags, mode) => {
      if ((flags & constants.O_CREAT) !== 0) whole("openSync");
      return nodeIo.openSync(path, flags, mode);
    },
    writeSync: (fd, bytes, ...[offset, length, position]) => {
      const trouble = meet("writeSync");
      const half = Math.floor(length / 2);
      if (trouble === "none") return nodeIo.writeSync(fd, bytes, offset, length, position);
      if (half === 0) throw trouble === "torn" ? new Crash() : diskError("ENOSPC");
      const count = nodeIo.writeSync(fd, bytes, offset, half, position);
      if (trouble === "torn") throw new Crash();
      return count;
    },
    ftruncateSync: (fd, size) => {
      whole("ftruncateSync");
      nodeIo.ftruncateSync(fd, size);
    },
    unlinkSync: (path) => {
      whole("unlinkSync");
      nodeIo.unlinkSync(path);
    },
  };
}

function diskError(code: string): Error {
  return Object.assign(new Error(`${code}: as the test asked`), { code });
}
