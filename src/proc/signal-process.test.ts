import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { findProcess, type ProcessStat } from "./identity.ts";
import { describeSurvivor, sendSignal } from "./signal-process.ts";

async function openSleep(): Promise<
  AsyncDisposable & { readonly child: ChildProcess; readonly stat: ProcessStat }
> {
  const child = spawn("sleep", ["1000"], { stdio: "ignore" });
  const exited = once(child, "exit");
  await once(child, "spawn");
  const stat = findProcess(child.pid ?? 0);
  if (stat === undefined) throw new Error("no such process");
  return {
    child,
    stat,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

describe("a signal", () => {
  test("reaches the process that it is meant for", async () => {
    await using sleep = await openSleep();
    const exited = once(sleep.child, "exit");
    expect(sendSignal(sleep.stat, "SIGTERM")).toBe(true);
    expect(await exited).toEqual([null, "SIGTERM"]);
    expect(sendSignal(sleep.stat, "SIGTERM")).toBe(false);
  });

  test("never reaches who has got the number of somebody dead", async () => {
    await using sleep = await openSleep();
    const dead = { ...sleep.stat, start_time: sleep.stat.start_time - 1 };
    expect(sendSignal(dead, "SIGKILL")).toBe(false);
    expect(sleep.child.exitCode ?? sleep.child.signalCode).toBeNull();
    expect(findProcess(sleep.stat.pid)?.start_time).toBe(sleep.stat.start_time);
  });

  test("is refused for everybody, for init, for groups and for ourselves", () => {
    const self = findProcess(process.pid);
    const init = findProcess(1);
    if (self === undefined || init === undefined) throw new Error("no /proc");
    const targets = [
      self,
      init,
      { ...self, pid: 0 },
      { ...self, pid: -1 },
      { ...self, pid: -process.pid },
    ];
    // SIGCONT, so that a mistake here hurts nobody.
    expect(targets.map((target) => sendSignal(target, "SIGCONT"))).toEqual(
      targets.map(() => false),
    );
  });
});

describe("a survivor", () => {
  test("is named with its user and why it lives", async () => {
    await using sleep = await openSleep();
    expect(describeSurvivor(sleep.stat)).toMatchObject({
      pid: sleep.stat.pid,
      uid: process.getuid?.(),
      command: "sleep",
      why: expect.stringMatching(/^it is in state \w and did not end in time$/),
    });
  });

  test("that died meanwhile was ending", async () => {
    const sleep = await openSleep();
    await sleep[Symbol.asyncDispose]();
    expect(describeSurvivor(sleep.stat)).toMatchObject({
      uid: -1,
      why: expect.stringMatching(/^it was ending/),
    });
  });
});
