import { closeSync, openSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { systemClock } from "#base/clock.ts";
import { openChildren } from "#proc/fixtures/open-children.ts";
import { Recorder } from "#proc/fixtures/recorder.ts";
import { openSpawner } from "#proc/platform/open-spawner.ts";

const O_CLOEXEC = 0o2000000;

function isKept(fd: number): boolean {
  const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1];
  return (Number.parseInt(flags ?? "0", 8) & O_CLOEXEC) === 0;
}

test("a program that cannot be executed leaves everything as it was", async () => {
  using spawner = await openSpawner({
    clock: systemClock,
    isHost: false,
    cgroups: false,
    onError: (error) => {
      throw error;
    },
  });
  using stack = new DisposableStack();
  const fd = stack.adopt(openSync("/dev/null", "r"), closeSync);
  const replace = (keep: readonly number[]) => () =>
    spawner.succession?.replace({ argv: ["/nonexistent/program"], env: {}, keep });
  expect(replace([fd])).toThrow(expect.objectContaining({ code: "ENOENT" }));
  expect(isKept(fd)).toBe(false);
  // A descriptor that is not there is found out before.
  expect(replace([fd, 1_000_000])).toThrow(expect.objectContaining({ code: "EBADF" }));
  expect(isKept(fd)).toBe(false);
});

test("a child that cannot be taken over after its exit takes nobody's end away who has its number now", async () => {
  await using children = await openChildren({ cgroups: false });
  const { child, heard } = await children.sh("read x; exit 7", { stdin: true });
  const wiring = {
    terminal: false,
    outputs: [{ channel: "stdout" as const, fd: 1_000_000 }],
    slave: null,
    stdin: null,
    input_b64: "",
    input_ending: false,
  };
  const { identity } = child;
  const handed = {
    identity,
    limit_mark: null,
    state: "exited",
    has_cgroup: false,
    wiring,
  } as const;
  expect(() => children.spawner.adopt("ses_gone", handed, new Recorder())).toThrow();
  child.write(Buffer.from("go\n"));
  expect(await heard.untilExited()).toEqual({ exit_code: 7, signal: null });
});
