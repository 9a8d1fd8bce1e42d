import { spawn } from "node:child_process";
import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { openChildren } from "#proc/fixtures/open-children.ts";
import { openHost } from "#proc/fixtures/open-host.ts";
import { decodeStatus, Reaper } from "./reaper.ts";

describe("the reaper", () => {
  test("of a host leaves no zombies of orphans that it adopted", async () => {
    await using host = openHost();
    const orphans =
      "for i in $(seq 100); do (sh -c 'exit 1' &); (setsid sh -c : &); done; echo made";
    const child = await host.sh(orphans);
    await child.heard.untilFinal();
    // The last of them may still have to die; whoever ends the tree has seen all of them gone.
    expect(await host.endTree(child, { grace_ms: 600_000 })).toEqual([]);
    expect(await host.number({ op: "zombies" })).toBe(0);
    expect(await child.heard.untilExited()).toEqual({ exit_code: 0, signal: null });
  });

  test("of another process leaves Node's own children to Node", async () => {
    await using children = await openChildren();
    const own = async (code: number) => {
      const [found] = await once(spawn("/bin/sh", ["-c", `exit ${code}`]), "exit");
      return found === code;
    };
    const ours = async (code: number) => {
      const { heard } = await children.sh(`exit ${code}`);
      return (await heard.untilExited()).exit_code === code;
    };
    const codes = Array.from({ length: 40 }, (_, index) => index + 1);
    const right = await Promise.all(codes.flatMap((code) => [own(code), ours(code)]));
    expect(right.filter((isRight) => !isRight)).toEqual([]);
  });

  test("goes on when somebody who waits throws", () => {
    const dead = [
      { pid: 11, status: 0 },
      { pid: 12, status: 256 },
    ];
    const errors: unknown[] = [];
    const told: number[] = [];
    const reaper = new Reaper({
      libc: { reap: () => dead.shift() },
      adoptsOrphans: true,
      onError: (error) => void errors.push(error),
    });
    reaper.watch(11, () => {
      throw new Error("boom");
    });
    reaper.watch(12, ({ exit_code }) => told.push(exit_code));
    let deaths = 0;
    reaper.onDeath(() => {
      deaths += 1;
    });
    process.emit("SIGCHLD", "SIGCHLD");
    reaper[Symbol.dispose]();
    expect(told).toEqual([1]);
    expect(errors.map(String)).toEqual(["Error: boom"]);
    expect(deaths).toBe(1);
    expect(reaper.watched).toBe(0);
  });

  test("remembers how an expected child ended before anybody watches it, and nobody else's end", async () => {
    const dead = [
      { pid: 11, status: 3 << 8 },
      { pid: 12, status: 0 },
    ];
    const told: string[] = [];
    using reaper = new Reaper({
      libc: { reap: () => dead.shift() },
      adoptsOrphans: true,
      expected: new Set([11]),
      onError: (error) => void told.push(String(error)),
    });
    const watch = (pid: number) =>
      reaper.watch(pid, ({ exit_code }) => told.push(`${pid}: ${exit_code}`));
    process.emit("SIGCHLD", "SIGCHLD");
    watch(11);
    watch(12);
    await setImmediate();
    expect(told).toEqual(["11: 3"]);
    // The number is somebody else's by now.
    dead.push({ pid: 11, status: 0 });
    process.emit("SIGCHLD", "SIGCHLD");
    watch(11);
    await setImmediate();
    expect(told).toEqual(["11: 3"]);
  });
});

describe("a wait status", () => {
  test.each([
    [0, { exit_code: 0, signal: null }],
    [3 << 8, { exit_code: 3, signal: null }],
    [255 << 8, { exit_code: 255, signal: null }],
    [9, { exit_code: 137, signal: "SIGKILL" }],
    [11 | 0x80, { exit_code: 139, signal: "SIGSEGV" }],
    [6, { exit_code: 134, signal: "SIGABRT" }],
    [29, { exit_code: 157, signal: "SIGIO" }],
    [64, { exit_code: 192, signal: "SIG64" }],
  ])("of %i is told as what it is", (status, expected) => {
    expect(decodeStatus(status)).toEqual(expected);
  });
});
