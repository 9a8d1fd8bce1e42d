import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { openGate } from "#proc/fixtures/gate.ts";
import { completeSpec, openChildren, PATH } from "#proc/fixtures/open-children.ts";
import { livingOf, namedProcesses } from "#proc/fixtures/open-host.ts";
import { Recorder } from "#proc/fixtures/recorder.ts";
import { identify } from "#proc/identity.ts";
import { openDarwinSpawner } from "./open-spawner.ts";

const SIZE = { cols: 80, rows: 24 };
const modes = [
  { mode: "a PTY", size: SIZE },
  { mode: "pipes", size: undefined },
];

const openMac = () => openChildren({}, (options) => openDarwinSpawner(options));

describe.each(modes)("the macOS backend, run here, on $mode", ({ size }) => {
  test("gives a program its arguments, environment, directory and umask", async () => {
    await using children = await openMac();
    const line = 'printf "%s|" "$@" "$A" "$PWD" "$(pwd)" "$(umask)" "$0"';
    const running = await children.spawn({
      argv: ["sh", "-c", line, "me", "", "two words", "☃"],
      env: { PATH, A: " a " },
      work_dir: "/usr",
      umask: 0o027,
      size,
    });
    await running.heard.untilFinal();
    expect(running.heard.text()).toBe("|two words|☃| a |/usr|/usr|0027|me|");
  });

  test("tells all output, then the exit, then the final", async () => {
    await using children = await openMac();
    const once = async () => {
      const { heard } = await children.sh("printf x; exit 3", { size });
      await heard.untilFinal();
      return [heard.text(), heard.bytesAtExit, heard.status?.exit_code].join(" ");
    };
    const seen = new Set<string>();
    for (let round = 0; round < 2; round += 1)
      for (const found of await Promise.all(Array.from({ length: 5 }, once))) seen.add(found);
    expect([...seen]).toEqual(["x 1 3"]);
  });

  test("tells every byte of a burst before the exit", async () => {
    await using children = await openMac();
    const burst = async () => {
      const { heard } = await children.sh("stty raw 2>/dev/null; head -c 150000 /dev/zero", {
        size,
      });
      await heard.untilExited();
      return heard.bytesAtExit;
    };
    for (let round = 0; round < 3; round += 1)
      expect(await Promise.all([burst(), burst(), burst()])).toEqual([150_000, 150_000, 150_000]);
  });

  test("changes no byte", async () => {
    await using children = await openMac();
    const folder = mkdtempSync(join(tmpdir(), "reins-mac-"));
    try {
      const content = Buffer.concat([
        Buffer.from(Array.from({ length: 256 }, (_, value) => value)),
        randomBytes(300_000),
      ]);
      writeFileSync(join(folder, "content"), content);
      const line = `stty raw -echo 2>/dev/null; cat ${folder}/content`;
      const { heard } = await children.sh(line, { size });
      await heard.untilFinal();
      expect(heard.bytes("stdout").equals(content)).toBe(true);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test.each([
    ["SIGKILL", 137],
    ["SIGTERM", 143],
    ["SIGABRT", 134],
  ])("tells the death by %s with its name and %i", async (signal, exit_code) => {
    await using children = await openMac();
    const { heard } = await children.sh(`kill -${exit_code - 128} $$; read x`, { size });
    expect(await heard.untilExited()).toEqual({ exit_code, signal });
  });

  test("says why a program cannot be run", async () => {
    await using children = await openMac();
    const spawn = (part: object) =>
      Promise.resolve(
        children.spawner.spawn(completeSpec({ argv: ["true"], size, ...part }), new Recorder()),
      );
    const withErrno = (errno: string) => ({ code: "spawn_failed", details: { errno } });
    await expect(spawn({ argv: ["reins-nowhere"] })).rejects.toMatchObject(withErrno("ENOENT"));
    await expect(spawn({ argv: ["/tmp"] })).rejects.toMatchObject(withErrno("EACCES"));
    await expect(spawn({ work_dir: "/nowhere" })).rejects.toMatchObject(withErrno("ENOENT"));
    await expect(spawn({ argv: ["true", "\0"] })).rejects.toMatchObject(withErrno("EINVAL"));
  });

  test("takes input, and never waits for a program that does not read", async () => {
    await using children = await openMac();
    const line = "stty raw -echo 2>/dev/null; echo go; exec sleep 1000";
    const stuck = await children.sh(line, { size, stdin: true });
    await stuck.heard.untilText("go");
    const chunk = Buffer.alloc(limits.input_bytes, "x");
    const fill = () => {
      for (;;) stuck.child.write(chunk);
    };
    expect(fill).toThrow(expect.objectContaining({ code: "queue_full" }));
    const lively = await children.sh("stty -echo 2>/dev/null; echo go; cat", { size, stdin: true });
    await lively.heard.untilText("go");
    lively.child.write(Buffer.from("round trip\n"));
    await lively.heard.untilText("round trip");
    lively.child.endInput();
    expect(await lively.heard.untilExited()).toEqual({ exit_code: 0, signal: null });
    stuck.child.signalTree("SIGKILL");
    await stuck.heard.untilExited();
    expect(stuck.child.queuedInputBytes).toBe(0);
  });

  test("ends the tree that can be seen, also when it ignores the hang-up", async () => {
    await using children = await openMac();
    const line =
      "trap '' HUP; sleep 1000 & echo one $!; sh -c 'echo two $$; exec sleep 1000' & echo leader $$; wait";
    const { child, heard } = await children.sh(line, { size });
    await heard.until("all", () => namedProcesses(heard.text(), identify).size === 3);
    const all = namedProcesses(heard.text(), identify);
    expect(livingOf(all)).toHaveLength(3);
    expect(child.countTree()).toBe(3);
    expect(await child.endTree({ grace_ms: 20 })).toEqual([]);
    expect(livingOf(all)).toEqual([]);
    await heard.untilFinal();
  });

  test("remembers who has left its parents, group and session behind", async () => {
    await using children = await openMac();
    using gate = openGate();
    const line = `setsid sh -c 'trap "" HUP; echo away $$; exec sleep 1000' & echo leader $$; ${gate.wait}; exit 0`;
    const { child, heard } = await children.sh(line, { size });
    await heard.until("all", () => namedProcesses(heard.text(), identify).size === 2);
    const all = namedProcesses(heard.text(), identify);
    expect(child.countTree()).toBe(2);
    gate.open();
    await heard.untilExited();
    expect(livingOf(all)).toEqual(["away"]);
    expect(await child.endTree({ grace_ms: 20 })).toEqual([]);
    expect(livingOf(all)).toEqual([]);
  });

  test("goes silent when it is disposed", async () => {
    await using children = await openMac();
    const heard = new Recorder();
    const spec = completeSpec({
      argv: ["sh", "-c", "trap '' HUP; echo go; read x"],
      size,
      stdin: true,
    });
    const child = await children.spawner.spawn(spec, heard);
    await heard.untilText("go");
    child[Symbol.dispose]();
    expect(await child.endTree({ grace_ms: 0 })).toEqual([]);
    expect(heard.status).toBeUndefined();
    child.write(Buffer.from("x"));
    child.resize(SIZE);
    expect(child.signalForeground("SIGKILL")).toBe(0);
  });
});

describe("the macOS backend, run here", () => {
  test("sizes a terminal and interrupts its foreground job", async () => {
    await using children = await openMac();
    const argv = ["bash", "--norc", "--noprofile", "-i"];
    const size = { cols: 91, rows: 33 };
    const { child, heard } = await children.spawn({ argv, env: { PS1: "ready$ " }, size });
    await heard.untilText("ready$ ");
    child.write(Buffer.from("stty size; sh -c 'echo st''arted; exec sleep 1000'\n"));
    await heard.untilText("started\r\n");
    expect(heard.text()).toContain("33 91\r\n");
    child.resize({ cols: 100, rows: 40 });
    expect(child.signalForeground("SIGINT")).toBe(1);
    child.write(Buffer.from("echo code $?; stty size\n"));
    await heard.untilText("code 130\r\n");
    await heard.untilText("40 100\r\n");
    expect(heard.status).toBeUndefined();
  });

  test("tells late output on pipes after the exit, and the final behind it", async () => {
    await using children = await openMac();
    using gate = openGate();
    const { heard } = await children.sh(`(${gate.wait}; printf late) & printf early >&2; exit 2`);
    expect(await heard.untilExited()).toEqual({ exit_code: 2, signal: null });
    expect(heard.isFinal).toBe(false);
    expect(heard.text("stderr")).toBe("early");
    gate.open();
    await heard.untilFinal();
    expect(heard.text("stdout")).toBe("late");
  });

  test("makes stdout and stderr one where that is asked for", async () => {
    await using children = await openMac();
    const line = 'printf "%s|" "$@" >&2; echo out; echo err >&2; exit 3';
    const argv = ["sh", "-c", line, "me", "", "two words", "$HOME"];
    const { heard } = await children.spawn({ argv, merged: true });
    expect(await heard.untilExited()).toEqual({ exit_code: 3, signal: null });
    await heard.untilFinal();
    expect([heard.text("stdout"), heard.text("stderr")]).toEqual([
      "|two words|$HOME|out\nerr\n",
      "",
    ]);
    const missing = children.spawn({ argv: ["no-such-program"], merged: true });
    await expect(missing).rejects.toMatchObject({ code: "spawn_failed" });
  });

  test("reads pipes to their end when they were paused at the exit", async () => {
    await using children = await openMac();
    const { child, heard } = await children.sh("echo go; read x; seq 5000; exit 6", {
      stdin: true,
    });
    await heard.untilText("go");
    child.pause();
    child.endInput();
    expect(await heard.untilExited()).toEqual({ exit_code: 6, signal: null });
    expect(heard.text()).toMatch(/\n5000\n$/);
  });

  test("runs commands without node-pty, and says what terminals need", async () => {
    await using children = await openChildren({}, (options) =>
      openDarwinSpawner(options, () => Promise.reject(new Error("Cannot find package"))),
    );
    const { heard } = await children.sh("echo hi");
    await heard.untilFinal();
    expect(heard.text()).toBe("hi\n");
    await expect(children.pty("echo hi")).rejects.toMatchObject({
      code: "unsupported_os",
      message: "terminals need the package @lydell/node-pty, which is not installed here",
    });
  });

  test("ends what a dead host left of a session whose root still lives", async () => {
    await using children = await openMac();
    const { child, heard } = await children.sh("trap '' HUP; sleep 1000 & echo go; wait");
    await heard.untilText("go");
    const { identity } = child;
    const ended = { session_id: "ses_x", identity, limit_mark: undefined };
    const other = { ...ended, identity: { ...identity, boot_id: "another" } };
    const recycled = { ...ended, identity: { ...identity, start_time: identity.start_time - 9 } };
    await children.spawner.endLeftovers([other, recycled, { ...ended, identity: undefined }]);
    expect(child.countTree()).toBe(2);
    expect(await children.spawner.endLeftovers([ended])).toEqual([]);
    expect(child.countTree()).toBe(0);
  });
});
