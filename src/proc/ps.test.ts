import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { findByPs, findForegroundGroup, findUser, parsePs, takePsSnapshot } from "./ps.ts";

const MAC = `
    1     0     1      0 Ss   Sun Nov 15 08:14:01 2026 /sbin/launchd
  412     1   412      0 S    Sun Nov 15 08:14:09 2026 /Applications/Some App.app/Contents/MacOS/Some App
 5123  5000  5123 ffffff80 S+   Mon Jan  5 23:59:59 2026 -zsh
 5124  5123  5124      0 Z    Tue Feb  3 00:00:00 2026 (sleep)
not a line
 99 1 1 0 S garbled lstart here x
`;

describe("a listing of ps", () => {
  test("is read as macOS prints it", () => {
    expect(parsePs(MAC)).toEqual([
      {
        pid: 1,
        ppid: 0,
        pgid: 1,
        sid: 0,
        state: "S",
        start_time: Date.UTC(2026, 10, 15, 8, 14, 1) / 1000,
        name: "/sbin/launchd",
      },
      {
        pid: 412,
        ppid: 1,
        pgid: 412,
        sid: 0,
        state: "S",
        start_time: Date.UTC(2026, 10, 15, 8, 14, 9) / 1000,
        name: "/Applications/Some App.app/Contents/MacOS/Some App",
      },
      {
        pid: 5123,
        ppid: 5000,
        pgid: 5123,
        sid: 0,
        state: "S",
        start_time: Date.UTC(2026, 0, 5, 23, 59, 59) / 1000,
        name: "-zsh",
      },
      {
        pid: 5124,
        ppid: 5123,
        pgid: 5124,
        sid: 0,
        state: "Z",
        start_time: Date.UTC(2026, 1, 3) / 1000,
        name: "(sleep)",
      },
    ]);
  });

  test("is read as this system prints it", async () => {
    const child = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
    const exited = once(child, "exit");
    await once(child, "spawn");
    const pid = child.pid ?? 0;
    const found = takePsSnapshot().processes.find((stat) => stat.pid === pid);
    expect(found).toMatchObject({ pid, ppid: process.pid, pgid: pid });
    expect(findByPs(pid)?.pid).toBe(pid);
    expect(findForegroundGroup(pid)).toBeUndefined();
    expect(findUser(pid)).toBe(process.getuid?.());
    child.kill("SIGKILL");
    await exited;
    expect(findByPs(pid)).toBeUndefined();
    expect(findUser(pid)).toBe(-1);
    expect(findByPs(-1)).toBeUndefined();
    expect(findByPs(Number.NaN)).toBeUndefined();
  });
});
