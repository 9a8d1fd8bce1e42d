import { describe, expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import { completeSpec } from "#proc/fixtures/open-children.ts";
import { Recorder } from "#proc/fixtures/recorder.ts";
import { FakeSpawner } from "./fake-child.ts";

const spec = completeSpec({ argv: ["anything"] });

async function spawnFake() {
  const spawner = new FakeSpawner();
  const heard = new Recorder();
  const child = await spawner.spawn(spec, heard);
  return { spawner, heard, child };
}

describe("a fake spawner", () => {
  test("records what it was asked for and gives every child a pid of its own", async () => {
    const { spawner, child } = await spawnFake();
    const other = await spawner.spawn(spec, new Recorder());
    expect(spawner.specs).toEqual([spec, spec]);
    expect(spawner.children).toEqual([child, other]);
    expect(spawner.last).toBe(other);
    expect(other.pid).not.toBe(child.pid);
  });

  test("fails the next spawn as told, and only that", async () => {
    const spawner = new FakeSpawner();
    const fault = new Fault("spawn_failed", "no such program");
    spawner.failNext(fault);
    expect(() => spawner.spawn(spec, new Recorder())).toThrow(fault);
    expect(await spawner.spawn(spec, new Recorder())).toBe(spawner.last);
  });

  test("holds the next spawn until it is let go", async () => {
    const spawner = new FakeSpawner();
    const release = spawner.holdNext();
    const spawning = spawner.spawn(spec, new Recorder());
    expect(spawner.specs).toHaveLength(1);
    expect(spawner.children).toEqual([]);
    release();
    expect(await spawning).toBe(spawner.last);
  });

  test("remembers the leftovers that it was asked to end", async () => {
    const spawner = new FakeSpawner();
    spawner.survivors = [{ pid: 7, uid: 0, command: "sudo", why: "it runs as another user" }];
    const leftover = { session_id: "ses_x", identity: undefined, limit_mark: undefined };
    expect(await spawner.endLeftovers([leftover])).toEqual(spawner.survivors);
    expect(spawner.leftovers).toEqual([leftover]);
  });
});

describe("a fake child", () => {
  test("prints, exits and finishes in the port's order", async () => {
    const { child, heard } = await spawnFake();
    child.print("out");
    child.print(Uint8Array.of(255), "stderr");
    child.exit({ exit_code: 3, signal: null });
    child.print("late");
    child.finish();
    expect(heard.text("stdout")).toBe("outlate");
    expect(heard.bytes("stderr")).toEqual(Buffer.of(255));
    expect(heard.status).toEqual({ exit_code: 3, signal: null });
    expect(heard.isFinal).toBe(true);
    expect(heard.violations).toEqual([]);
  });

  test("refuses to break that order", async () => {
    const { child } = await spawnFake();
    expect(() => child.finish()).toThrow("after the exit");
    child.exit();
    expect(() => child.exit()).toThrow("twice");
    child.finish();
    expect(() => child.finish()).toThrow("once");
    expect(() => child.print("x")).toThrow("after its final");
  });

  test("keeps its output back while it is paused, but not beyond its exit", async () => {
    const { child, heard } = await spawnFake();
    child.pause();
    child.print("a");
    expect(heard.text()).toBe("");
    child.resume();
    expect(heard.text()).toBe("a");
    child.pause();
    child.print("b");
    child.exit();
    expect(heard.bytesAtExit).toBe(2);
  });

  test("keeps its input until its end", async () => {
    const { child } = await spawnFake();
    child.write(Buffer.from("ab"));
    child.write(Buffer.from("c"));
    child.endInput();
    child.write(Buffer.from("d"));
    expect(child.written.toString()).toBe("abc");
    expect(child.inputEnded).toBe(true);
  });

  test("on a terminal goes on taking input behind the character for its end", async () => {
    const child = await new FakeSpawner().spawn(
      { ...spec, size: { cols: 80, rows: 24 } },
      new Recorder(),
    );
    child.write(Buffer.from("a"));
    child.endInput();
    child.write(Buffer.from("b"));
    expect(child.written.toString()).toBe("a\x04b");
    expect(child.inputEnded).toBe(true);
  });

  test("fails where a test wants it to", async () => {
    const { child } = await spawnFake();
    child.fullQueue = true;
    child.failResize = true;
    expect(() => child.write(Buffer.from("x"))).toThrow(
      expect.objectContaining({ code: "queue_full" }),
    );
    expect(() => child.resize({ cols: 1, rows: 1 })).toThrow("refuses");
    expect(child.sizes).toEqual([]);
    expect(child.queuedInputBytes).toBeGreaterThan(0);
  });

  test("records sizes and signals, and counts its tree", async () => {
    const { child } = await spawnFake();
    child.leftovers = 2;
    child.resize({ cols: 1, rows: 2 });
    expect(child.signalForeground("SIGINT")).toBe(1);
    expect(child.signalTree("SIGTERM")).toBe(3);
    child.exit();
    expect(child.signalForeground("SIGINT")).toBe(0);
    expect(child.countTree()).toBe(2);
    expect(child.sizes).toEqual([{ cols: 1, rows: 2 }]);
    expect(child.signals).toEqual(["SIGINT", "SIGINT"]);
    expect(child.treeSignals).toEqual(["SIGTERM"]);
  });

  test("ends with its tree by a hang-up, or by a kill when it is stubborn", async () => {
    const { child, heard } = await spawnFake();
    expect(await child.endTree({ grace_ms: 250 })).toEqual([]);
    expect(heard.status).toEqual({ exit_code: 129, signal: "SIGHUP" });
    expect(heard.isFinal).toBe(true);
    expect(child.graces).toEqual([250]);
    expect(await child.endTree({ grace_ms: 1 })).toEqual([]);

    const stubborn = await spawnFake();
    stubborn.child.stubborn = true;
    stubborn.child.survivors = [{ pid: 7, uid: 0, command: "sudo", why: "root" }];
    expect(await stubborn.child.endTree({ grace_ms: 1 })).toEqual(stubborn.child.survivors);
    expect(stubborn.heard.status).toEqual({ exit_code: 137, signal: "SIGKILL" });
  });

  test("stays alive while its end is held", async () => {
    const { child, heard } = await spawnFake();
    const release = child.holdEnd();
    const ending = child.endTree({ grace_ms: 250 });
    await Promise.resolve();
    expect(heard.status).toBeUndefined();
    release();
    expect(await ending).toEqual([]);
    expect(child.reaped).toBe(true);
  });

  test("after its exit finishes with the leftovers that are ended, else when it is told to", async () => {
    const { child, heard } = await spawnFake();
    child.exit();
    expect(await child.endTree({ grace_ms: 1 })).toEqual([]);
    expect(heard.isFinal).toBe(false);
    child.leftovers = 1;
    await child.endTree({ grace_ms: 1 });
    expect(heard.isFinal).toBe(true);
    expect(child.countTree()).toBe(0);
  });

  test("that is disposed tells nobody, and is reaped all the same", async () => {
    const { child, heard } = await spawnFake();
    child[Symbol.dispose]();
    child.print("x");
    child.exit();
    child.finish();
    expect(child.isDisposed).toBe(true);
    expect(child.reaped).toBe(true);
    expect(heard.text()).toBe("");
    expect(heard.status).toBeUndefined();
  });
});
