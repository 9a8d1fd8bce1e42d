import { expect, test } from "vitest";
import { withOpenFiles } from "./open-files.ts";

function fakeLibc(soft: bigint, hard: bigint) {
  const written: bigint[] = [];
  return {
    written,
    openFiles: {
      read: () => ({ soft, hard }),
      write: (next: bigint) => {
        written.push(next);
        return 0;
      },
    },
  };
}

test.each([
  [undefined, 1024n],
  [256, 256n],
  [50_000, 20_000n],
])("with %s asked for, a child starts with %s and we keep our own", (wanted, given) => {
  const libc = fakeLibc(20_000n, 20_000n);
  expect(withOpenFiles(libc, wanted, () => "ran")).toBe("ran");
  expect(libc.written).toEqual([given, 20_000n]);
});

test("our own limit comes back when the spawn throws", () => {
  const libc = fakeLibc(4096n, 4096n);
  const fail = () => {
    throw new Error("no");
  };
  expect(() => withOpenFiles(libc, 10, fail)).toThrow("no");
  expect(libc.written).toEqual([10n, 4096n]);
});
