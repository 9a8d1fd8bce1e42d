import { type LogIo, nodeIo } from "#log/log-io.ts";

/** A disk for logs with as much room as the test says. Records of an index are small and fit as long as any byte does. */
export class FullDisk {
  room = Number.POSITIVE_INFINITY;
  readonly io: LogIo = {
    ...nodeIo,
    writeSync: ((...args: Parameters<LogIo["writeSync"]>) => {
      const [fd, bytes, from = 0, length = bytes.length, position = 0] = args;
      if (this.room === 0) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
      if (length <= RECORD_BYTES) return nodeIo.writeSync(fd, bytes, from, length, position);
      const count = nodeIo.writeSync(fd, bytes, from, Math.min(length, this.room), position);
      this.room -= count;
      return count;
    }) as LogIo["writeSync"],
  };
}

const RECORD_BYTES = 48;
