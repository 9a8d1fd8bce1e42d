import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const LOAD = `
Buffer.from("a little from the pool first");
const before = Buffer.poolSize;
const { UnicodeGraphemesAddon } = await import("#screen/emulator/graphemes.ts");
console.log(typeof UnicodeGraphemesAddon, Buffer.poolSize === before);
`;

test("its table is read rightly, whatever has been taken from the pool of buffers before", () => {
  const args = ["--input-type=module", "-e", LOAD];
  expect(execFileSync(process.execPath, args, { encoding: "utf8" })).toBe("function true\n");
});
