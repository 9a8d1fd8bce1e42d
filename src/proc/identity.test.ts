import { spawn } from "node:child_process";
import { once } from "node:events";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { eventually } from "./fixtures/deadline.ts";
import { findProcess, identify, isAlive, isDead, parseStat, readBootId } from "./identity.ts";

/** As the kernel writes it: fields 4 to 52, of which we read four. */
function statLine(pid: number, name: string, fields: readonly (string | number)[]): string {
  return `${pid} (${name}) ${fields.join(" ")}\n`;
}

describe("a line of /proc/pid/stat", () => {
  test("is read right whatever the process is called", () => {
    const name = fc.oneof(
      fc.constantFrom(") R 1 1 1", "a) (b", "((", "))", " ", "\n", "x) Z 0", "", "ünï"),
      // As the file is read: every byte a character.
      fc.uint8Array({ maxLength: 15 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
    );
    const number = fc.integer({ min: 0, max: 2 ** 31 - 1 });
    fc.assert(
      fc.property(
        name,
        fc.constantFrom("R", "S", "D", "Z", "T", "X"),
        fc.array(number, { minLength: 49, maxLength: 49 }),
        (comm, state, rest) => {
          const stat = parseStat(statLine(4711, comm, [state, ...rest]));
          expect(stat).toEqual({
            pid: 4711,
            name: comm,
            state,
            ppid: rest[0],
            pgid: rest[1],
            sid: rest[2],
            start_time: rest[18],
            threads: rest[16],
          });
        },
      ),
    );
  });

  test("that is cut short or no such line is nobody", () => {
    for (const text of ["", "1", "1 (a", "1 (a) ", "1 (a) R 1 1 1", ")(", "1 a R 1 2 3"])
      expect(parseStat(text)).toBeUndefined();
  });

  test("a zombie with threads that run is not dead", () => {
    expect([1, 2, 3].map((threads) => isDead({ state: "Z", threads }))).toEqual([
      true,
      false,
      false,
    ]);
    expect(isDead({ state: "X", threads: 2 })).toBe(true);
  });

  test("says who is dead", () => {
    expect(["R", "S", "D", "T", "t", "I", "Z", "X"].filter((state) => isDead({ state }))).toEqual([
      "Z",
      "X",
    ]);
  });
});

describe("a process", () => {
  test("is the same only while pid, start time and boot are", async () => {
    const child = spawn("sleep", ["1000"], { stdio: "ignore" });
    const exited = once(child, "exit");
    const identity = identify(child.pid ?? 0);
    expect(identity.boot_id).toBe(readBootId());
    expect(isAlive(identity)).toBe(true);
    expect(isAlive({ ...identity, start_time: identity.start_time + 1 })).toBe(false);
    expect(isAlive({ ...identity, boot_id: "another" })).toBe(false);
    child.kill("SIGKILL");
    await exited;
    expect(isAlive(identity)).toBe(false);
    expect(findProcess(identity.pid)).toBeUndefined();
  });

  test("that is a zombie is not alive", async () => {
    // What `sleep` has inherited from the shell it never waits for.
    const parent = spawn("sh", ["-c", "sh -c 'echo $$' & exec sleep 1000"]);
    const exited = once(parent, "exit");
    const [text] = await once(parent.stdout, "data");
    const pid = Number(text);
    await eventually("the zombie", () => findProcess(pid)?.state === "Z");
    expect(isAlive(identify(pid))).toBe(false);
    parent.kill("SIGKILL");
    await exited;
  });

  test("that never was is nobody", () => {
    for (const pid of [0, -1, 2 ** 30, Number.NaN]) {
      expect(findProcess(pid)).toBeUndefined();
      expect(isAlive(identify(pid))).toBe(false);
    }
  });
});
