import { expect, test } from "vitest";
import type { LogSource } from "./log-source.ts";
import { readRange } from "./read-range.ts";

test("a long history gives way to the others of the process", async () => {
  const MIB = 1024 * 1024;
  const source: LogSource = {
    tail: () => 8 * MIB,
    first: () => 0,
    read: (offset) =>
      offset === 8 * MIB
        ? undefined
        : { kind: "bytes", offset, channel: 1, at_ms: 0, bytes: new Uint8Array(MIB) },
    [Symbol.dispose]: () => undefined,
  };
  let turns = 0;
  const count = () => {
    turns += 1;
    handle = setImmediate(count);
  };
  let handle = setImmediate(count);
  for await (const _ of readRange(source, 0, { to: 8 * MIB, limit: MIB }));
  clearImmediate(handle);
  expect(turns).toBeGreaterThanOrEqual(7);
});
