import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { findOwnCgroup } from "#proc/cgroup/cgroup.ts";
import { expectNoCgroups, hasCgroups } from "#proc/fixtures/cgroups-here.ts";
import { eventually } from "#proc/fixtures/deadline.ts";
import { openGate } from "#proc/fixtures/gate.ts";
import {
  type Host,
  type HostChild,
  livingOf,
  namedProcesses,
  openHost,
} from "#proc/fixtures/open-host.ts";
import {
  findProcess,
  identify,
  isAlive,
  isDead,
  type ProcessIdentity,
  readText,
} from "#proc/identity.ts";

const SIZE = { cols: 80, rows: 24 };
const modes = [
  { mode: "a PTY with a cgroup", size: SIZE, cgroups: true },
  { mode: "a PTY without cgroups", size: SIZE, cgroups: false },
  { mode: "pipes with a cgroup", size: undefined, cgroups: true },
  { mode: "pipes without cgroups", size: undefined, cgroups: false },
];

/** One with cgroups and one without for all tests: each test ends the sessions that it starts. */
const hosts = new Map<boolean, Host>();
afterAll(async () => {
  for (const host of hosts.values()) await host[Symbol.asyncDispose]();
});

function hostWith({ cgroups }: { readonly cgroups: boolean }): Host {
  const host = hosts.get(cgroups) ?? openHost({ cgroups });
  hosts.set(cgroups, host);
  return host;
}

/** Each prints its name and its pid when it is what its name says. */
const members = {
  nohup: "nohup sleep 1000 >/dev/null 2>&1 & echo nohup $!",
  setsid: "setsid sh -c 'echo setsid $$; exec sleep 1000' &",
  disowned: "sleep 1000 & echo disowned $!; disown",
  orphan: "(sh -c 'echo orphan $$; exec sleep 1000' &)",
  stubborn: `sh -c 'trap "" HUP TERM INT; echo stubborn $$; exec sleep 1000' &`,
  cleared: "env -i setsid sh -c 'echo cleared $$; exec sleep 1000' &",
  hidden: `(env -i setsid sh -c 'sh -c "echo hidden \\$\\$; exec sleep 1000 </dev/null >/dev/null 2>&1" &' &)`,
  stopped: `sh -c 'trap "" HUP; echo stopped $$; kill -STOP $$; exec sleep 1000' &`,
};
const names = Object.keys(members).toSorted();

/** The process ends its first thread and continues in another one; the kernel shows it as a zombie. */
const headless = `import ctypes, os, signal, threading, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
threading.Thread(target=time.sleep, args=(1000,)).start()
print("headless", os.getpid(), flush=True)
ctypes.CDLL(None).pthread_exit(None)`;

/** Forks and exits every millisecond. Each link of the chain has the word among its arguments. */
const chain = `import os, signal, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
print("chain", os.getpid(), flush=True)
while True:
    if os.fork(): os._exit(0)
    time.sleep(0.001)`;

/** A process that no session has started. */
function openForeigner(): AsyncDisposable & { readonly identity: ProcessIdentity } {
  const child = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
  const exited = once(child, "exit");
  return {
    identity: identify(child.pid ?? 0),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** A session with every kind of member, all of them alive. */
async function openFamily(host: Host, size: typeof SIZE | undefined) {
  const lines = Object.values(members).join("\n");
  // Job control would put every member in a group of its own and make it easier.
  const argv = ["bash", "-c", `${lines}\necho leader $$; wait; read x`];
  const child = await host.spawn({ argv, size, stdin: true });
  const found = () => namedProcesses(child.heard.text(), identify);
  await child.heard.until("all members", () => found().size === names.length + 1);
  const all = found();
  await eventually(
    "the stopped member",
    () => findProcess(all.get("stopped")?.pid ?? 0)?.state === "T",
  );
  expect(livingOf(all).toSorted()).toEqual(["leader", ...names].toSorted());
  return { child, all };
}

describe.each(modes)("the tree of a session on $mode", ({ size, cgroups }) => {
  test("ends whole, and nobody else does", async () => {
    const host = hostWith({ cgroups });
    await using foreigner = openForeigner();
    const neighbour = await host.sh("sleep 1000 & echo neighbour $!; wait", { size });
    await neighbour.heard.untilText("neighbour");
    const { child, all } = await openFamily(host, size);
    expect(await host.number({ op: "countTree", index: child.index })).toBeGreaterThanOrEqual(9);

    expect(await host.endTree(child)).toEqual([]);
    expect(livingOf(all)).toEqual([]);
    await child.heard.untilFinal();
    expect(await host.number({ op: "countTree", index: child.index })).toBe(0);
    expect(isAlive(foreigner.identity)).toBe(true);
    expect(livingOf(namedProcesses(neighbour.heard.text(), identify))).toEqual(["neighbour"]);
    expect(await host.number({ op: "countTree", index: neighbour.index })).toBe(2);

    expect(await host.endTree(neighbour)).toEqual([]);
    expect(await host.number({ op: "zombies" })).toBe(0);
    expect(host.errors).toEqual([]);
  });
});

/** All processes that have the word among their arguments. */
function findByArgument(word: string): readonly string[] {
  return readdirSync("/proc").filter((pid) =>
    (readText(`/proc/${pid}/cmdline`) ?? "").split("\0").includes(word),
  );
}

describe.each([true, false])("the end of a session (cgroups: %s)", (cgroups) => {
  test("ends a process whose first thread has exited", async () => {
    const host = hostWith({ cgroups });
    const child = await host.spawn({ argv: ["bash", "-c", `python3 -c '${headless}' & wait`] });
    const found = () => namedProcesses(child.heard.text(), identify);
    await child.heard.until("the process", () => found().size === 1);
    const { pid = 0 } = found().get("headless") ?? {};
    await eventually("the end of its first thread", () => findProcess(pid)?.state === "Z");
    const all = found();
    expect(livingOf(all)).toEqual(["headless"]);
    expect(await host.endTree(child)).toEqual([]);
    expect(livingOf(all)).toEqual([]);
  });

  test("ends a process that cleared its environment and forks and exits every millisecond", async () => {
    const host = hostWith({ cgroups });
    const word = randomUUID();
    const line = `env -i setsid python3 -c '${chain}' ${word} & wait; read x`;
    const child = await host.sh(line, { stdin: true });
    await child.heard.untilText("chain");
    await host.endTree(child);
    expect(findByArgument(word)).toEqual([]);
  });
});

/** Enough to meet a PTY, pipes, a cgroup and none. */
const someModes = modes.filter(({ size, cgroups }) => (size !== undefined) === cgroups);

describe.each(someModes)("the tree of a session on $mode", ({ size, cgroups }) => {
  test("can be counted, signalled and ended after its leader's exit", async () => {
    const host = hostWith({ cgroups });
    const line = "trap '' HUP; setsid sleep 1000 & echo one $!; sleep 1000 & echo two $!; exit 3";
    const child = await host.sh(line, { size });
    expect(await child.heard.untilExited()).toEqual({ exit_code: 3, signal: null });
    const all = namedProcesses(child.heard.text(), identify);
    const { index } = child;
    expect(await host.number({ op: "countTree", index })).toBe(2);
    expect(await host.number({ op: "signalTree", index, signal: "SIGWINCH" })).toBe(2);
    expect(livingOf(all)).toEqual(["one", "two"]);
    expect(await host.endTree(child)).toEqual([]);
    expect(livingOf(all)).toEqual([]);
    await child.heard.untilFinal();
    expect(await host.number({ op: "signalTree", index, signal: "SIGKILL" })).toBe(0);
  });

  test("ends long before the grace is over when everybody goes at once", async () => {
    const host = hostWith({ cgroups });
    const child = await host.sh("sleep 1000 & echo go; wait", { size });
    await child.heard.untilText("go");
    expect(await host.endTree(child, { grace_ms: 600_000 })).toEqual([]);
    expect(await child.heard.untilExited()).toEqual({ exit_code: 129, signal: "SIGHUP" });
  });

  test("is asked before it is killed, and may clean up", async () => {
    const host = hostWith({ cgroups });
    // The second shell tells, because the first one's trap is still set between its fork and its exec.
    const line = "trap 'echo cleaned; exit 9' HUP; sh -c 'echo go; exec sleep 1000' & wait";
    const child = await host.sh(line, { size });
    await child.heard.untilText("go");
    expect(await host.endTree(child, { grace_ms: 600_000 })).toEqual([]);
    await child.heard.untilFinal();
    expect(child.heard.text()).toContain("cleaned");
    expect(child.heard.status).toEqual({ exit_code: 9, signal: null });
  });

  test("counts no zombies", async () => {
    const host = hostWith({ cgroups });
    // What `sleep` has inherited from the shell it never waits for.
    const child = await host.sh("sh -c 'echo dead $$' & exec sleep 1000", { size });
    await child.heard.untilText("dead");
    const pid = namedProcesses(child.heard.text(), identify).get("dead")?.pid ?? 0;
    await eventually("the zombie", () => {
      const stat = findProcess(pid);
      return stat !== undefined && isDead(stat);
    });
    expect(await host.number({ op: "countTree", index: child.index })).toBe(1);
    expect(await host.endTree(child)).toEqual([]);
  });
});

describe.each([true, false])("the end of 30 sessions at once (cgroups: %s)", (cgroups) => {
  test("looks at the process table a few times, not a few times each", async () => {
    const host = hostWith({ cgroups });
    const children: HostChild[] = [];
    for (let count = 0; count < 30; count += 1) {
      children.push(await host.sh("trap '' HUP; sleep 1000 & echo go; wait"));
    }
    await Promise.all(children.map((child) => child.heard.untilText("go")));
    const before = await host.number({ op: "scans" });
    const survivors = await Promise.all(children.map((child) => host.endTree(child)));
    expect(survivors.flat()).toEqual([]);
    expect((await host.number({ op: "scans" })) - before).toBeLessThan(30);
    await Promise.all(children.map((child) => child.heard.untilFinal()));
    expect(await host.number({ op: "zombies" })).toBe(0);
  });
});

describe("with a cgroup", () => {
  test("who forks and exits without end is ended too", async () => {
    if (!hasCgroups) return expectNoCgroups();
    const host = hostWith({ cgroups: true });
    const folder = mkdtempSync(join(tmpdir(), "reins-hopper-"));
    try {
      const path = join(folder, "hop.sh");
      writeFileSync(path, `trap '' HUP; sh ${path} & exit 0\n`);
      const child = await host.sh(`sh ${path}; echo go; read x`, { stdin: true });
      await child.heard.untilText("go");
      expect(await host.endTree(child)).toEqual([]);
      const hoppers = readdirSync("/proc").filter((pid) =>
        readText(`/proc/${pid}/cmdline`)?.includes(path),
      );
      expect(hoppers).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("its folder goes with the last member, also when that outlives the session", async () => {
    if (!hasCgroups) return expectNoCgroups();
    await using host = openHost({ cgroups: true });
    const folder = join(findOwnCgroup() ?? "", `reins.${host.pid}`);
    const listing = () =>
      readdirSync(folder, { withFileTypes: true }).filter((x) => x.isDirectory());
    using gate = openGate();
    const line = `trap '' HUP; (${gate.wait}; echo gone) >/dev/null 2>&1 & exit 0`;
    const leaving = await host.sh(line);
    await leaving.heard.untilFinal();
    expect(listing().map((entry) => entry.name)).toEqual([leaving.session_id]);
    gate.open();
    const { index } = leaving;
    while ((await host.number({ op: "countTree", index })) > 0);
    const next = await host.sh("exit 0");
    await next.heard.untilFinal();
    expect(listing()).toEqual([]);
  });
});
