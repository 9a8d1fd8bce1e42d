import { describe, expect, test } from "vitest";
import { openEnds } from "#proc/fixtures/open-children.ts";
import { type Libc, openLibc } from "./libc.ts";
import { selfTest } from "./self-test.ts";

const libc = openLibc();

describe("the self-test", () => {
  test("passes here and leaves nothing open", () => {
    const before = openEnds();
    selfTest(libc);
    expect(openEnds()).toEqual(before);
  });

  const broken: [string, Partial<Libc>][] = [
    ["writes nothing and says that it did", { write: (_, bytes) => bytes.length }],
    ["writes half", { write: (fd, bytes) => libc.write(fd, bytes.subarray(0, 2)) }],
    ["writes something else", { write: (fd) => libc.write(fd, Buffer.from("snier\n")) }],
    ["names another terminal", { unlockPty: () => "/dev/null" }],
    ["gives no descriptor", { duplicate: () => -1 }],
    ["knows no pipe size", { pipeBytes: () => -22 }],
    [
      "has no terminals",
      {
        openPtyMaster: () => {
          throw new Error("ENODEV: posix_openpt failed");
        },
      },
    ],
  ];
  test.each(broken)("answers unsupported_os where libc %s", (_, part) => {
    const before = openEnds();
    expect(() => selfTest({ ...libc, ...part })).toThrow(
      expect.objectContaining({ code: "unsupported_os" }),
    );
    expect(openEnds()).toEqual(before);
  });
});
