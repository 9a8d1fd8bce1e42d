import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** In a process of its own: the test's must stay as it is. */
const SCRIPT = `
import koffi from "koffi";
import { guardMemory } from "#proc/guard-memory.ts";
const prctl = koffi.load(null).func("int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)");
const PR_GET_DUMPABLE = 3;
const before = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
await guardMemory();
console.log(before, prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
`;

test("a process that guards its memory can be traced by nobody of the same user", () => {
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", SCRIPT], {
    cwd: root,
    encoding: "utf8",
  });
  expect(printed).toBe("1 0\n");
});
