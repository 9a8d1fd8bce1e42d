import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { expectNoCgroups, hasCgroups } from "#proc/fixtures/cgroups-here.ts";
import { PATH } from "#proc/fixtures/open-children.ts";
import { Cgroups, findOwnCgroup, openCgroups } from "./cgroup.ts";
import { joinCgroup } from "./join-cgroup.ts";

const base = findOwnCgroup() ?? "";
/** Of a process that lives: every host that starts sweeps away what dead ones have left. */
const owner = spawn("sleep", ["1000"], { stdio: "ignore" });
const OWNER = owner.pid ?? 0;
afterAll(() => void owner.kill("SIGKILL"));
/** Nobody's: larger than any pid can be. */
const DEAD = 2 ** 22 + process.pid;

describe("cgroups", () => {
  test("hold what joined them, end it at one word, and go", async () => {
    if (!hasCgroups) return expectNoCgroups();
    const cgroups = openCgroups(OWNER);
    const cgroup = cgroups?.open("ses_a");
    if (cgroup === undefined) throw new Error("no cgroup");
    const env = { PATH };
    const argv = ["sh", "-c", "(setsid sleep 1000 &); echo go; exec sleep 1000"];
    const [file = "", ...args] =
      joinCgroup({ procs: cgroup.procs, argv, program: "/bin/sh", env }) ?? [];
    const joined = spawn(file, args, { env, stdio: ["ignore", "pipe", "inherit"] });
    const exited = once(joined, "exit");
    await once(joined.stdout, "data");
    expect(cgroup.pids()).toContain(joined.pid);
    expect(cgroup.pids()).toHaveLength(2);
    cgroup.remove();
    expect(existsSync(join(base, `reins.${OWNER}`, "ses_a"))).toBe(true);
    expect(cgroup.kill()).toBe(true);
    expect(await exited).toEqual([null, "SIGKILL"]);
    while (cgroup.pids().length > 0);
    cgroup.remove();
    cgroup.remove();
    expect(cgroup.kill()).toBe(false);
    expect(cgroup.pids()).toEqual([]);
    expect(existsSync(join(base, `reins.${OWNER}`, "ses_a"))).toBe(false);
    cgroups?.[Symbol.dispose]();
    expect(existsSync(join(base, `reins.${OWNER}`))).toBe(false);
  });

  test("of hosts that died are swept away by the next", () => {
    if (!hasCgroups) return expectNoCgroups();
    const dead = openCgroups(DEAD);
    dead?.open("ses_b");
    using next = openCgroups();
    expect(next).toBeDefined();
    expect(existsSync(join(base, `reins.${DEAD}`))).toBe(false);
    expect(existsSync(join(base, `reins.${process.pid}`))).toBe(true);
  });

  test("are never made twice for one name", () => {
    const folder = mkdtempSync(join(tmpdir(), "reins-cgroup-"));
    const cgroups = new Cgroups(folder);
    cgroups.open("ses_c");
    expect(() => cgroups.open("ses_c")).toThrow("EEXIST");
    cgroups[Symbol.dispose]();
    expect(existsSync(folder)).toBe(false);
  });

  test("that could not be removed yet are tried again when the next ones are made", () => {
    const folder = mkdtempSync(join(tmpdir(), "reins-cgroup-"));
    const cgroups = new Cgroups(folder);
    const names = Array.from({ length: 20 }, (_, index) => `ses_${index}`);
    const made = names.map((name) => cgroups.open(name));
    // A file stands for the processes that keep a cgroup from being removed.
    for (const { procs } of made) writeFileSync(procs, "");
    for (const cgroup of made) cgroup.remove();
    expect(readdirSync(folder)).toHaveLength(20);
    for (const { procs } of made.slice(10)) rmSync(procs);
    for (let next = 0; next < 3; next += 1) cgroups.open(`next_${next}`).remove();
    expect(readdirSync(folder).toSorted()).toEqual(names.slice(0, 10).toSorted());
    rmSync(folder, { recursive: true });
  });
});
