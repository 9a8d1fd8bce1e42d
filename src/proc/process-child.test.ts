import { describe, expect, test } from "vitest";
import { openGate } from "#proc/fixtures/gate.ts";
import { completeSpec, openChildren, openEnds } from "#proc/fixtures/open-children.ts";
import { Recorder } from "#proc/fixtures/recorder.ts";
import { isAlive } from "#proc/identity.ts";

const SIZE = { cols: 80, rows: 24 };
const modes = [
  { mode: "a PTY", size: SIZE },
  { mode: "pipes", size: undefined },
];

const signals = [
  { exit_code: 129, signal: "SIGHUP" },
  { exit_code: 130, signal: "SIGINT" },
  { exit_code: 131, signal: "SIGQUIT" },
  { exit_code: 134, signal: "SIGABRT" },
  { exit_code: 137, signal: "SIGKILL" },
  { exit_code: 138, signal: "SIGUSR1" },
  { exit_code: 139, signal: "SIGSEGV" },
  { exit_code: 140, signal: "SIGUSR2" },
  { exit_code: 141, signal: "SIGPIPE" },
  { exit_code: 143, signal: "SIGTERM" },
  { exit_code: 162, signal: "SIG34" },
];

describe.each(modes)("the end of a child on $mode", ({ size }) => {
  test("is told with its code", async () => {
    await using children = await openChildren();
    const codes = [0, 1, 2, 3, 126, 127, 128, 130, 255];
    const told = codes.map(async (code) => {
      const { heard } = await children.sh(`exit ${code}`, { size });
      return await heard.untilExited();
    });
    expect(await Promise.all(told)).toEqual(
      codes.map((exit_code) => ({ exit_code, signal: null })),
    );
  });

  test("by a signal is told with its name and 128 + n", async () => {
    await using children = await openChildren();
    const told = signals.map(async ({ exit_code }) => {
      const { heard } = await children.sh(`kill -${exit_code - 128} $$; read x`, { size });
      return await heard.untilExited();
    });
    expect(await Promise.all(told)).toEqual(signals);
  });

  test("is told when it stopped before and was killed then", async () => {
    await using children = await openChildren();
    const { child, heard } = await children.sh("echo go; kill -STOP $$; echo never", { size });
    await heard.untilText("go");
    child.signalTree("SIGKILL");
    expect(await heard.untilExited()).toEqual({ exit_code: 137, signal: "SIGKILL" });
    expect(heard.text()).not.toContain("never");
  });

  test("is told however broken the listener is", async () => {
    await using children = await openChildren();
    const heard = new Recorder();
    const spec = completeSpec({ argv: ["echo", "hi"], size });
    const boom = () => {
      throw new Error("boom");
    };
    const child = await children.spawner.spawn(spec, {
      output: boom,
      exited(status) {
        heard.exited(status);
        boom();
      },
      final: () => heard.final(),
    });
    await heard.untilFinal();
    child[Symbol.dispose]();
    expect(children.errors.map(String)).toEqual(["Error: boom", "Error: boom"]);
  });

  test("makes everything that is asked later harmless", async () => {
    await using children = await openChildren();
    const other = await children.sh("echo other; read x", { size, stdin: true });
    await other.heard.untilText("other");
    const { child, heard } = await children.sh("exit 0", { size, stdin: true });
    await heard.untilFinal();
    // The descriptors of this one may have got the numbers of the dead one.
    const next = await children.sh("stty size 2>/dev/null; echo next; read x", {
      size,
      stdin: true,
    });
    await next.heard.untilText("next");
    child.write(Buffer.from("x\n"));
    child.endInput();
    child.resize({ cols: 11, rows: 7 });
    child.pause();
    child.resume();
    expect(child.signalForeground("SIGKILL")).toBe(0);
    expect(child.signalTree("SIGKILL")).toBe(0);
    expect(child.countTree()).toBe(0);
    expect(child.queuedInputBytes).toBe(0);
    expect(await child.endTree({ grace_ms: 1000 })).toEqual([]);
    child[Symbol.dispose]();
    child[Symbol.dispose]();
    expect(next.heard.status).toBeUndefined();
    expect(other.heard.status).toBeUndefined();
    next.child.write(Buffer.from("\n"));
    expect(await next.heard.untilExited()).toMatchObject({ signal: null });
  });
});

describe.each(modes)("a child on $mode that is disposed", ({ size }) => {
  test("while it runs goes on, says nothing more and is reaped", async () => {
    await using children = await openChildren();
    using gate = openGate();
    const before = openEnds();
    const heard = new Recorder();
    const argv = ["sh", "-c", `trap '' HUP; echo go; ${gate.wait}; echo more; exit 3`];
    const child = await children.spawner.spawn(completeSpec({ argv, size }), heard);
    await heard.untilText("go");
    child[Symbol.dispose]();
    expect(openEnds()).toEqual(before);
    expect(isAlive(child.identity)).toBe(true);
    expect(child.countTree()).toBe(1);
    child.write(Buffer.from("x"));
    child.resize(SIZE);
    gate.open();
    expect(await child.endTree({ grace_ms: 60_000 })).toEqual([]);
    expect(isAlive(child.identity)).toBe(false);
    expect(heard.status).toBeUndefined();
    expect(heard.text().trim()).toBe("go");
  });

  test("by its own listener is told nothing more", async () => {
    await using children = await openChildren();
    for (const moment of ["output", "exited"] as const) {
      const heard = new Recorder();
      using gate = openGate();
      const argv = ["sh", "-c", `trap '' HUP; echo one; ${gate.wait}; echo two`];
      const done = Promise.withResolvers<void>();
      const child = await children.spawner.spawn(completeSpec({ argv, size }), {
        output(channel, bytes) {
          heard.output(channel, bytes);
          if (moment === "output") done.resolve(child[Symbol.dispose]());
          gate.open();
        },
        exited(status) {
          heard.exited(status);
          done.resolve(child[Symbol.dispose]());
        },
        final: () => heard.final(),
      });
      await done.promise;
      expect(await child.endTree({ grace_ms: 60_000 })).toEqual([]);
      expect(heard.isFinal).toBe(false);
      expect(heard.text().includes("two")).toBe(moment === "exited");
      expect(heard.status === undefined).toBe(moment === "output");
    }
    expect(children.errors).toEqual([]);
  });
});

describe("a signal to the foreground", () => {
  test("ends the job of an interactive shell and leaves the shell alive", async () => {
    await using children = await openChildren();
    const { child, heard } = await children.spawn({
      argv: ["bash", "--norc", "--noprofile", "-i"],
      env: { PS1: "ready$ " },
      size: SIZE,
    });
    await heard.untilText("ready$ ");
    child.write(Buffer.from("sh -c 'echo st''arted; exec sleep 1000'\n"));
    await heard.untilText("started\r\n");
    expect(child.signalForeground("SIGINT")).toBe(1);
    child.write(Buffer.from("echo code $?\n"));
    await heard.untilText("code 130\r\n");
    expect(heard.status).toBeUndefined();
    expect(child.countTree()).toBe(1);
  });

  test("reaches no other job of the terminal, and not the shell", async () => {
    await using children = await openChildren();
    const { child, heard } = await children.spawn({
      argv: ["bash", "--norc", "--noprofile", "-i"],
      env: { PS1: "ready$ " },
      size: SIZE,
    });
    await heard.untilText("ready$ ");
    const job = (name: string) =>
      `sh -c 'trap "echo ${name} h''eard" WINCH; echo ${name} st''arted; while :; do sleep 0.01; done'`;
    child.write(Buffer.from(`trap 'echo shell h''eard' WINCH; ${job("back")} &\n`));
    await heard.untilText("back started\r\n");
    child.write(Buffer.from(`${job("front")}\n`));
    await heard.untilText("front started\r\n");
    expect(child.signalForeground("SIGWINCH")).toBe(1);
    await heard.untilText("front heard\r\n");
    // The others were signalled at the same moment or not at all; this one is heard behind it.
    child.signalForeground("SIGINT");
    child.write(Buffer.from("echo en''d\n"));
    await heard.untilText("end\r\n");
    expect(heard.text()).not.toMatch(/(back|shell) heard/);
  });

  test("reaches the whole group of a child on pipes", async () => {
    await using children = await openChildren();
    // Told by the other member itself: caught between fork and exec it would still have the trap.
    const line = "trap 'echo got it; exit 7' USR1; sh -c 'echo go; exec sleep 1000' & wait";
    const { child, heard } = await children.sh(line);
    await heard.untilText("go\n");
    expect(child.signalForeground("SIGUSR1")).toBe(1);
    expect(await heard.untilExited()).toEqual({ exit_code: 7, signal: null });
    // The other one was in the same group, had no trap and held stdout.
    await heard.untilFinal();
    expect(heard.text()).toBe("go\ngot it\n");
  });
});

describe("a new size", () => {
  test("is seen by the program and told by SIGWINCH", async () => {
    await using children = await openChildren();
    const line = "trap 'stty size' WINCH; stty size; while :; do read x; done";
    const { child, heard } = await children.pty(line, { size: { cols: 91, rows: 33 } });
    await heard.untilText("33 91\r\n");
    child.resize({ cols: 200, rows: 50 });
    await heard.untilText("50 200\r\n");
    child.resize({ cols: 4096, rows: 4096 });
    await heard.untilText("4096 4096\r\n");
  });

  test("is there before input that comes after it", async () => {
    await using children = await openChildren();
    const { child, heard } = await children.pty("echo go; while read x; do stty size; done");
    await heard.untilText("go");
    for (let cols = 100; cols < 120; cols += 1) {
      child.resize({ cols, rows: 30 });
      child.write(Buffer.from("\n"));
      await heard.untilText(`30 ${cols}\r\n`);
    }
  });
});
