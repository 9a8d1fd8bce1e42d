import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { GUARD_AFTER_MS, guardLater } from "./guard-memory.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const NOBODY = 65534;
const SECRET = "sk-4b1d2f9a7c3e";

/**
 * In a process of its own, which must not be root's: nothing is hidden from root. It loads its modules before it gives
 * its rights away, because the checkout may be readable for root alone.
 */
const HEAD = `
import koffi from "koffi";
import { execFileSync } from "node:child_process";
import { guardMemory, isMemoryGuarded, takeEnvironment } from "#proc/platform/guard-memory.ts";
import "#proc/linux/libc.ts";
const prctl = koffi.load(null).func("int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)");
const PR_SET_DUMPABLE = 4;
const setDumpable = (value) => prctl(PR_SET_DUMPABLE, value, 0, 0, 0);
if (process.getuid() === 0) {
  process.setgroups([]);
  process.setgid(${NOBODY});
  process.setuid(${NOBODY});
  setDumpable(1);
}
const say = (...words) => console.log(...words);
const readBy = (file) => {
  try {
    const options = { encoding: "latin1", cwd: "/", env: { PATH: "/usr/bin:/bin" }, stdio: ["ignore", "pipe", "ignore"] };
    return execFileSync("head", ["-c", "100000", "/proc/" + process.pid + "/" + file], options).includes("${SECRET}") ? "secret" : "nothing";
  } catch { return "refused"; }
};
`;

function run(script: string, env: Record<string, string> = {}): string {
  return execFileSync(process.execPath, ["--input-type=module", "-e", HEAD + script], {
    cwd: root,
    encoding: "utf8",
    env: { PATH: process.env.PATH ?? "", ACME_KEY: SECRET, COPY: `of ${SECRET}`, ...env },
  });
}

test("a process that guards its memory can be traced by nobody of the same user", () => {
  const printed = run(`
say(readBy("environ"), await isMemoryGuarded());
await guardMemory(process.env);
say(readBy("environ"), readBy("maps"), await isMemoryGuarded());
`);
  expect(printed).toBe("secret false\nrefused refused true\n");
});

test("secrets are taken out of the environment that the kernel shows, and stay known to the process", () => {
  const printed = run(`
const env = await takeEnvironment(process.env);
say(readBy("environ"));
setDumpable(1);
say(readBy("environ"), process.env.ACME_KEY, process.env.COPY, env.ACME_KEY, env.COPY);
`);
  expect(printed).toBe(`refused\nnothing undefined undefined ${SECRET} of ${SECRET}\n`);
});

test("a process that is to be debugged stays readable", () => {
  const printed = run(`await guardMemory(process.env); say(readBy("environ"));`, {
    REINS_DUMPABLE: "1",
  });
  expect(printed).toBe("secret\n");
});

test("a command that stays guards its memory, one that has ended by then does not", () => {
  const clock = new ManualClock();
  const guarded: unknown[] = [];
  const guard = async (env: Record<string, string | undefined>) => void guarded.push(env.NAME);
  using _stays = guardLater(clock, { NAME: "attach" }, guard);
  guardLater(clock, { NAME: "ps" }, guard)[Symbol.dispose]();
  clock.advance(GUARD_AFTER_MS - 1);
  expect(guarded).toEqual([]);
  clock.advance(1);
  expect(guarded).toEqual(["attach"]);
});
