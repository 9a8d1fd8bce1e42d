import { mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openChildren, PATH, type Running } from "#proc/fixtures/open-children.ts";
import { openHost } from "#proc/fixtures/open-host.ts";

const SIZE = { cols: 80, rows: 24 };
const WAITING = ["sh", "-c", "echo ready; read line"];
const modes = [
  { mode: "a PTY with a cgroup", size: SIZE, cgroups: true },
  { mode: "a PTY without cgroups", size: SIZE, cgroups: false },
  { mode: "pipes with a cgroup", size: undefined, cgroups: true },
  { mode: "pipes without cgroups", size: undefined, cgroups: false },
];

async function linesOf({ heard }: Running): Promise<string[]> {
  await heard.untilFinal();
  return heard.text().replaceAll("\r\n", "\n").split("\n");
}

describe.each(modes)("a child on $mode", ({ size, cgroups }) => {
  test("gets exactly the arguments that were asked for", async () => {
    await using children = await openChildren({ cgroups });
    const args = [
      "",
      "two words",
      "*",
      "$HOME",
      "'\"\\",
      "ünï ☃ 🐴",
      "-n",
      "--",
      "line\nbreak",
      "",
    ];
    const format = "import json,sys;print(json.dumps(sys.argv[1:]))";
    const running = await children.spawn({ argv: ["python3", "-c", format, ...args], size });
    const [line = ""] = await linesOf(running);
    expect(JSON.parse(line)).toEqual(args);
  });

  test("finds the name that it was called by", async () => {
    await using children = await openChildren({ cgroups });
    const running = await children.spawn({ argv: ["sh", "-c", "cat /proc/$$/cmdline"], size });
    const [line] = await linesOf(running);
    expect(line).toBe("sh\0-c\0cat /proc/$$/cmdline\0");
  });

  test("takes an argument of 100 KiB", async () => {
    await using children = await openChildren({ cgroups });
    const long = "x".repeat(100 * 1024);
    const argv = ["sh", "-c", `printf %s "$1" | wc -c`, "sh", long];
    expect((await linesOf(await children.spawn({ argv, size })))[0]?.trim()).toBe("102400");
  });

  test("gets exactly the environment that was asked for, and where it is", async () => {
    await using children = await openChildren({ cgroups });
    const env = {
      PATH,
      EMPTY: "",
      SPACES: " a  b ",
      ÜNÏ: "☃",
      "BASH_FUNC_x%%": "() { echo hi; }",
      "with.dot": "1",
      IFS: ":",
      OPTIND: "7",
      OLDPWD: "/nowhere",
    };
    const running = await children.spawn({
      argv: ["env", "-0"],
      env,
      session_id: "ses_0123456789abcdef",
      work_dir: "/usr",
      size,
    });
    const entries = (await linesOf(running)).join("\n").split("\0").filter(Boolean).toSorted();
    const expected = { ...env, REINS_SESSION_ID: "ses_0123456789abcdef", PWD: "/usr" };
    expect(entries).toEqual(
      Object.entries(expected)
        .map(([name, value]) => `${name}=${value}`)
        .toSorted(),
    );
  });

  test("works in the directory and with the umask that were asked for", async () => {
    await using children = await openChildren({ cgroups });
    const before = process.umask();
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "reins proc-")));
    try {
      const argv = ["sh", "-c", "pwd; umask; touch made; stat -c %a made"];
      const running = await children.spawn({ argv, size, work_dir: folder, umask: 0o027 });
      expect((await linesOf(running)).slice(0, 3)).toEqual([folder, "0027", "640"]);
      expect(process.umask()).toBe(before);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("leads a session of its own, with default signals and an empty mask", async () => {
    await using children = await openChildren({ cgroups });
    const stat = await children.spawn({ argv: ["cut", "-d ", "-f1,5,6", "/proc/self/stat"], size });
    const { pid } = stat.child;
    expect((await linesOf(stat))[0]).toBe(`${pid} ${pid} ${pid}`);
    const argv = ["grep", "-E", "Sig(Ign|Blk)", "/proc/self/status"];
    expect((await linesOf(await children.spawn({ argv, size }))).slice(0, 2)).toEqual([
      "SigBlk:\t0000000000000000",
      "SigIgn:\t0000000000000000",
    ]);
  });

  test("sees no descriptors but 0, 1 and 2", async () => {
    await using children = await openChildren({ cgroups });
    const { child, heard } = await children.spawn({ argv: WAITING, size, stdin: true });
    await heard.untilText("ready");
    expect(readdirSync(`/proc/${child.pid}/fd`)).toEqual(["0", "1", "2"]);
  });

  test("is rather ended for memory than its host", async () => {
    await using children = await openChildren({ cgroups });
    const running = await children.spawn({ argv: ["cat"], size, stdin: true });
    const argv = ["cat", `/proc/${running.child.pid}/oom_score_adj`];
    expect((await linesOf(await children.spawn({ argv, size })))[0]).toBe("500");
  });

  test("is told by the pid, start time and boot that make it unique", async () => {
    await using children = await openChildren({ cgroups });
    const argv = [
      "sh",
      "-c",
      "cut -d' ' -f1,22 /proc/$$/stat; cat /proc/sys/kernel/random/boot_id",
    ];
    const { child, heard } = await children.spawn({ argv, size });
    const { pid, start_time, boot_id } = child.identity;
    expect((await linesOf({ child, heard })).slice(0, 2)).toEqual([
      `${pid} ${start_time}`,
      boot_id,
    ]);
  });
});

describe("a child beside 50 others", () => {
  test.each(modes)("sees only its own descriptors on $mode", async ({ size, cgroups }) => {
    await using children = await openChildren({ cgroups });
    for (let count = 0; count < 25; count += 1) {
      await children.spawn({ argv: ["cat"], size: SIZE });
      await children.spawn({ argv: ["cat"], stdin: true });
    }
    const { child, heard } = await children.spawn({ argv: WAITING, size, stdin: true });
    await heard.untilText("ready");
    expect(readdirSync(`/proc/${child.pid}/fd`)).toEqual(["0", "1", "2"]);
  });
});

describe("a child of a host with thousands of descriptors", () => {
  test.each(modes)("is started all the same on $mode", async ({ size, cgroups }) => {
    await using host = openHost({ cgroups, descriptors: 4000 });
    await host.ask({ op: "hoard", leave: 40 });
    const argv = ["sh", "-c", "ulimit -Sn; ulimit -Hn; echo ready; read line"];
    const { identity, heard } = await host.spawn({ argv, size, stdin: true });
    await heard.untilText("ready");
    expect(readdirSync(`/proc/${identity.pid}/fd`)).toEqual(["0", "1", "2"]);
    expect(heard.text().split(/\r?\n/).slice(0, 2)).toEqual(["1024", "4000"]);
  });
});

describe("a terminal", () => {
  test("is the child's controlling one, of the size that was asked for", async () => {
    await using children = await openChildren();
    const argv = ["sh", "-c", "stty size </dev/tty; tty; stty -a | grep -o -- '-\\?iutf8'"];
    const running = await children.spawn({ argv, size: { cols: 133, rows: 41 } });
    const [dimensions, name, utf8] = await linesOf(running);
    expect(dimensions).toBe("41 133");
    expect(name).toMatch(/^\/dev\/pts\/\d+$/);
    expect(utf8).toBe("iutf8");
  });
});

describe("pipes", () => {
  test("come with no controlling terminal and an empty stdin", async () => {
    await using children = await openChildren();
    const line =
      "readlink /proc/$$/fd/0; (: </dev/tty) 2>/dev/null || echo no tty; read x || echo end";
    expect(await linesOf(await children.sh(line))).toEqual(["/dev/null", "no tty", "end", ""]);
  });

  test("come with a stdin only where one is asked for", async () => {
    await using children = await openChildren();
    const { child, heard } = await children.sh("readlink /proc/$$/fd/0 | cut -c1-5; cat", {
      stdin: true,
    });
    child.write(Buffer.from("hello"));
    child.endInput();
    await heard.untilFinal();
    expect(heard.text()).toBe("pipe:\nhello");
  });

  test("keep stdout and stderr apart, or are one that both write to", async () => {
    await using children = await openChildren();
    const line = "echo out; echo err >&2; echo out; exec 2>&-; exec >&-; exit 3";
    const apart = await children.sh(line);
    await apart.heard.untilFinal();
    expect([apart.heard.text("stdout"), apart.heard.text("stderr")]).toEqual([
      "out\nout\n",
      "err\n",
    ]);
    const one = await children.sh(line, { merged: true });
    await one.heard.untilFinal();
    expect([one.heard.text("stdout"), one.heard.text("stderr")]).toEqual(["out\nerr\nout\n", ""]);
    expect([apart.heard.status, one.heard.status]).toMatchObject([
      { exit_code: 3 },
      { exit_code: 3 },
    ]);
    // The last one is the listing itself.
    const sees = await children.sh("exec ls /proc/self/fd", { merged: true });
    expect(await linesOf(sees)).toEqual(["0", "1", "2", "3", ""]);
  });
});

describe("every child", () => {
  test("is started through the one hook for sandboxes", async () => {
    await using children = await openChildren({ wrap: (argv) => ["env", "WRAPPED=yes", ...argv] });
    const running = await children.sh("echo $WRAPPED");
    expect(await linesOf(running)).toEqual(["yes", ""]);
  });
});
